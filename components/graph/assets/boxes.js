// Boxes on a plane: do they touch one another, do lines run through them. A box is [left, top, right, bottom].

const CELL = 48;

/** Boxes sorted into squares, so that only near ones are compared. */
export class Boxes {
  constructor() {
    this.cells = new Map();
  }

  add(box) {
    for (const cell of cellsOf(box)) {
      const there = this.cells.get(cell);
      if (there) there.push(box);
      else this.cells.set(cell, [box]);
    }
  }

  touches([left, top, right, bottom], except) {
    for (const cell of cellsOf([left, top, right, bottom])) {
      for (const other of this.cells.get(cell) ?? []) {
        if (other !== except && left < other[2] && right > other[0] && top < other[3] && bottom > other[1]) return true;
      }
    }
    return false;
  }
}

function* cellsOf([left, top, right, bottom]) {
  const last = Math.floor(bottom / CELL);
  for (let x = Math.floor(left / CELL); x <= Math.floor(right / CELL); x += 1) {
    for (let y = Math.floor(top / CELL); y <= last; y += 1) yield x * 65_537 + y;
  }
}

export const within = ([left, top, right, bottom], { x, y }) => x >= left && x <= right && y >= top && y <= bottom;

export const inside = (box, frame) =>
  box[0] >= frame[0] && box[1] >= frame[1] && box[2] <= frame[2] && box[3] <= frame[3];

export const grown = ([left, top, right, bottom], by) => [left - by, top - by, right + by, bottom + by];

/** How much of the lines runs through the box, in pixels: along a name it is worse than across. */
export function crossed(box, pieces) {
  let length = 0;
  for (const [from, to] of pieces) length += lengthInside(from, to, box);
  return length;
}

/** The line is cut to the box from each of its four sides (after Liang and Barsky). */
function lengthInside(from, to, [left, top, right, bottom]) {
  const [across, down] = [to.x - from.x, to.y - from.y];
  let [enters, leaves] = [0, 1];
  for (const [slope, room] of [
    [-across, from.x - left],
    [across, right - from.x],
    [-down, from.y - top],
    [down, bottom - from.y],
  ]) {
    if (slope === 0) {
      if (room < 0) return 0;
    } else if (slope < 0) {
      enters = Math.max(enters, room / slope);
    } else {
      leaves = Math.min(leaves, room / slope);
    }
    if (enters >= leaves) return 0;
  }
  return (leaves - enters) * Math.hypot(across, down);
}

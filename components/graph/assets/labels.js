// Names, counts and relation types: always the same size on the screen, always horizontal, never on top of each other.
// The important ones find their place first; what finds none is not drawn until there is room, or the pointer asks.

import { Boxes, crossed, grown, inside, within } from "./boxes.js";

const SIZE = 12.5;
const SMALL = 11;
const HEIGHT = 16;
const GAP = 4;
const NEAR = 5; // pixels between a name and another node or name at which one may be taken for the other's
const APART = 4; // pixels between a count or type and a name that it does not belong to
const CUT = 14; // letters that are left of a name where there is no room for it
const FEW_EDGES = 25; // so many may say their type without being asked
const SOME_EDGES = 60; // with more, a line without a count means one passage
const LANDMARKS = 6; // so many nodes with at least HUB lines have a name even in a crowd
const HUB = 12;
const BUSY = 5; // lines from which on a name looks for gaps between them
const CAREFUL = 60_000; // nodes times lines up to which names avoid lines, too

export class Labels {
  constructor(scene) {
    this.scene = scene;
    this.pen = document.createElement("canvas").getContext("2d");
    this.widths = new Map();
    this.sides = new Map(); // where each name was last: it stays there if it can
    this.placed = null;
    this.names = [];
    this.tags = [];
  }

  /** Fonts or colours changed. */
  dress(theme) {
    this.theme = theme;
    this.widths.clear();
    this.placed = null;
  }

  /** Find places for all, unless nothing that matters has changed since. */
  place(selected) {
    const now = `${this.scene.revision} ${this.scene.scale} ${selected ?? ""}`;
    if (now === this.placed) return;
    this.placed = now;
    this.taken = new Boxes();
    this.texts = new Boxes();
    this.discs = new Map([...this.scene.nodes.keys()].map((id) => [id, this.disc(id, selected)]));
    for (const disc of this.discs.values()) this.taken.add(disc);
    const { nodes, edges } = this.scene;
    this.pieces = nodes.size * edges.size <= CAREFUL ? this.scene.pieces() : [];
    this.frame = this.scene.frame();
    this.names = [];
    this.tags = [];
    let landmarks = LANDMARKS;
    const [start, ...others] = this.byImportance(selected);
    this.name(start, selected, true);
    if (edges.has(selected)) this.tag(selected, true, true);
    for (const id of others) {
      const hub = landmarks > 0 && nodes.get(id).edges.length >= HUB;
      if (hub) landmarks -= 1;
      this.name(id, selected, hub);
    }
    const [withType, withOnes] = [edges.size <= FEW_EDGES, edges.size <= SOME_EDGES];
    for (const edge of this.bySupport()) {
      if (edge.id !== selected && (withOnes || edge.passages > 1)) this.tag(edge.id, withType, false);
    }
  }

  /** The node or edge whose text is at this point of the plane. */
  at(point) {
    const hit = (entry) => within(entry.box, point);
    return this.names.find(hit)?.id ?? this.tags.find(hit)?.id ?? null;
  }

  disc(id, selected) {
    const { x, y } = this.scene.place(id);
    const reach = this.scene.radius(id) + (id === selected ? 6 : id === this.scene.start ? 3 : 1);
    return [x - reach, y - reach, x + reach, y + reach];
  }

  byImportance(selected) {
    const { scene } = this;
    const edge = scene.edges.get(selected);
    const ends = edge ? new Set([edge.from, edge.to]) : new Set([selected]);
    const near = edge ? ends : scene.neighbours(selected);
    const rank = (id) => (id === scene.start ? 0 : ends.has(id) ? 1 : near.has(id) ? 2 : 3);
    const degree = (id) => scene.nodes.get(id).edges.length;
    return [...scene.nodes.keys()].sort((a, b) => rank(a) - rank(b) || degree(b) - degree(a));
  }

  bySupport() {
    return [...this.scene.edges.values()].sort((a, b) => (b.passages ?? 0) - (a.passages ?? 0));
  }

  // --- names --------------------------------------------------------------------------------------------------------

  name(id, selected, hub) {
    const strong = id === this.scene.start || id === selected;
    const whole = this.text(id, strong, false);
    const entry = this.beside(id, whole) ?? (whole.cut ? this.beside(id, this.text(id, strong, true)) : null);
    if (entry) this.write(entry);
    else if (strong || hub) this.over(id, selected);
  }

  /** A hub in a crowd lies over other nodes rather than going without a name; only the start and what is selected may
   * even lie over another name. */
  over(id, selected) {
    const entry = this.anyway(id, selected);
    if (entry.strong || !this.texts.touches(entry.box)) this.write(entry);
  }

  write(entry) {
    this.taken.add(entry.box);
    this.texts.add(entry.box);
    this.names.push(entry);
  }

  text(id, strong, short) {
    const { label, suffix } = this.scene.nodes.get(id);
    const letters = Array.from(label);
    const cut = letters.length > CUT + 2;
    const text = short && cut ? `${letters.slice(0, CUT).join("").trimEnd()}…` : label;
    const font = this.font(strong ? 600 : 400, SIZE);
    const own = this.width(text, font);
    const width = own + (suffix ? GAP + this.width(suffix, this.font(400, SMALL)) : 0);
    return { text, suffix, font, own, width, cut, strong };
  }

  /** The place beside the node that is free and has the fewest lines running through it. */
  beside(id, text) {
    let [best, least] = [null, Infinity];
    const before = this.sides.get(id);
    for (const [side, box, bother] of this.sidesOf(id, text)) {
      if (this.taken.touches(box) || !inside(box, this.frame)) continue;
      const lines = crossed(box, this.pieces) / HEIGHT;
      const narrow = this.pieces.length && this.taken.touches(grown(box, NEAR), this.discs.get(id)) ? 1.5 : 0;
      const cost = 2 * lines + narrow + bother - (side === before ? 0.7 : 0);
      if (cost < least) [best, least] = [{ id, side, box, ...text, plain: lines > 0 && text.strong }, cost];
      if (!this.pieces.length) break; // the first free one will do
    }
    if (best) this.sides.set(id, best.side);
    return best;
  }

  sidesOf(id, { width, strong }) {
    const { x, y } = this.scene.place(id);
    const reach = this.scene.radius(id) + (strong ? 6 : 2); // past the ring of the start or the selection
    const box = (left, top) => [left, top, left + width, top + HEIGHT];
    const [middle, right, left] = [x - width / 2, x + reach + GAP, x - reach - GAP - width];
    const [below, level, above] = [y + reach, y - HEIGHT / 2, y - reach - HEIGHT];
    const slant = reach * 0.75;
    return [
      ["below", box(middle, below), 0],
      ["right", box(right, level), 0.4],
      ["left", box(left, level), 0.5],
      ["above", box(middle, above), 0.6],
      ["below right", box(x + slant, y + slant - 2), 0.9],
      ["below left", box(x - slant - width, y + slant - 2), 1],
      ["above right", box(x + slant, y - slant - HEIGHT + 2), 1],
      ["above left", box(x - slant - width, y - slant - HEIGHT + 2), 1.1],
      ...(this.pieces.length && this.scene.nodes.get(id).edges.length >= BUSY ? this.furtherOff(x, y, reach, width) : []),
    ];
  }

  /** A node with many lines around it: its name may stand further off, in whatever gap they leave. */
  furtherOff(x, y, reach, width) {
    const places = [];
    for (let turn = 0; turn < 24; turn += 1) {
      const [right, down] = [Math.cos((turn * Math.PI) / 12), Math.sin((turn * Math.PI) / 12)];
      for (const more of [3, 10]) {
        const left = x + right * (reach + more + width / 2) - width / 2;
        const top = y + down * (reach + more + HEIGHT / 2) - HEIGHT / 2;
        places.push([`${turn} ${more}`, [left, top, left + width, top + HEIGHT], 1 + more / 8]);
      }
    }
    return places;
  }

  anyway(id, selected) {
    const text = this.text(id, id === this.scene.start || id === selected, false);
    const sides = this.sidesOf(id, text);
    const [side, box] = sides.find((place) => !this.texts.touches(place[1]) && inside(place[1], this.frame)) ?? sides[0];
    return { id, side, box, ...text, plate: true };
  }

  // --- counts and types ---------------------------------------------------------------------------------------------

  tag(id, withType, anyhow) {
    const edge = this.scene.edges.get(id);
    const type = withType ? edge.type : "";
    const count = edge.label ?? "";
    if (!type && !count) return;
    const entry = this.sized({ id, type, count, anyhow });
    const length = this.length(edge);
    if (!anyhow && length < entry.width + 26) {
      if (type && count) this.tag(id, false, false); // the count alone may fit
      return;
    }
    const margins = anyhow ? [APART, 0] : [APART];
    for (const margin of margins) {
      for (const share of [0.5, 0.42, 0.58, 0.34, 0.66, 0.27, 0.73]) {
        const box = this.around(this.scene.along(id, share), entry.width);
        if (!this.taken.touches([box[0] - margin, box[1], box[2] + margin, box[3]])) {
          this.keep({ ...entry, box });
          return;
        }
      }
    }
    if (anyhow) this.keep({ ...entry, box: this.around(this.scene.along(id, 0.5), entry.width) });
    else if (type && count) this.tag(id, false, false);
  }

  keep(entry) {
    this.taken.add(entry.box);
    this.texts.add(entry.box);
    this.tags.push(entry);
  }

  sized(entry) {
    const font = this.font(400, SMALL);
    const typed = entry.type ? this.width(entry.type, font) : 0;
    const counted = entry.count ? Math.max(this.width(entry.count, font) + 9, 16) : 0;
    return { ...entry, typed, counted, width: typed + counted + (typed && counted ? GAP : 0) + (typed ? 6 : 0) };
  }

  around({ x, y }, width) {
    return [x - width / 2, y - HEIGHT / 2, x + width / 2, y + HEIGHT / 2];
  }

  length(edge) {
    const [from, to] = [this.scene.place(edge.from), this.scene.place(edge.to)];
    return Math.hypot(from.x - to.x, from.y - to.y) - this.scene.radius(edge.from) - this.scene.radius(edge.to);
  }

  // --- ink ----------------------------------------------------------------------------------------------------------

  font(weight, size) {
    return `${weight} ${size}px ${this.theme.font}`;
  }

  width(text, font) {
    const key = `${font}\n${text}`;
    let width = this.widths.get(key);
    if (width === undefined) {
      this.pen.font = font;
      width = this.pen.measureText(text).width;
      this.widths.set(key, width);
    }
    return width;
  }

  /** Draw what is in sight, then what is under the pointer or the keyboard's mark, over everything else. */
  draw(pen, selected, asked) {
    const { width, height } = this.scene.network.canvas.frame.getBoundingClientRect();
    const { x, y } = this.scene.shift;
    const seen = ({ box }) => box[2] + x > 0 && box[0] + x < width && box[3] + y > 0 && box[1] + y < height;
    pen.textBaseline = "middle";
    pen.lineJoin = "round";
    for (const tag of this.tags) if (seen(tag)) this.drawTag(pen, tag, tag.id === selected);
    for (const name of this.names) if (seen(name)) this.drawName(pen, name);
    for (const id of asked) this.drawAsked(pen, id, selected);
  }

  drawAsked(pen, id, selected) {
    if (this.scene.nodes.has(id)) {
      const there = this.names.find((name) => name.id === id);
      const whole = there && there.text === this.scene.nodes.get(id).label;
      if (!whole) this.drawName(pen, this.anyway(id, selected));
    } else if (this.scene.edges.has(id) && id !== selected) {
      const { type, label: count } = this.scene.edges.get(id);
      const entry = this.sized({ id, type, count });
      const there = this.tags.find((tag) => tag.id === id);
      const middle = there ? { x: (there.box[0] + there.box[2]) / 2, y: (there.box[1] + there.box[3]) / 2 } : null;
      this.drawTag(pen, { ...entry, box: this.around(middle ?? this.scene.along(id, 0.5), entry.width) }, false);
    }
  }

  drawName(pen, { box: [left, top], text, suffix, font, own, width, plate, plain, strong }) {
    const { theme } = this;
    if (plain) this.plate(pen, left - 3, top, width + 6, HEIGHT, theme.veil, null);
    if (plate) this.plate(pen, left - 4, top - 1, width + 8, HEIGHT + 2, theme.background, theme.border);
    const middle = top + HEIGHT / 2;
    this.ink(pen, text, left, middle, font, theme.text, strong ? 4 : 3);
    if (suffix) this.ink(pen, suffix, left + own + GAP, middle, this.font(400, SMALL), theme.quiet, 3);
  }

  drawTag(pen, { box: [left, top, right], type, typed, count, counted }, chosen) {
    const { theme } = this;
    const colour = chosen ? theme.accent : theme.quiet;
    const middle = top + HEIGHT / 2;
    const font = this.font(400, SMALL);
    if (type) {
      this.plate(pen, left, top, right - left, HEIGHT, theme.veil, null);
      this.ink(pen, type, left + 3, middle, font, chosen ? theme.accent : theme.text, 0);
    }
    if (!count) return;
    const at = type ? left + 3 + typed + GAP : left;
    this.plate(pen, at, top + 0.5, counted, HEIGHT - 1, theme.panel, colour);
    this.ink(pen, count, at + (counted - this.width(count, font)) / 2, middle, font, chosen ? theme.accent : theme.text, 0);
  }

  plate(pen, left, top, width, height, fill, line) {
    pen.beginPath();
    pen.roundRect(left, top, width, height, height / 2);
    pen.fillStyle = fill;
    pen.fill();
    if (!line) return;
    pen.strokeStyle = line;
    pen.lineWidth = 1;
    pen.stroke();
  }

  ink(pen, text, left, middle, font, colour, halo) {
    pen.font = font;
    if (halo) {
      pen.strokeStyle = this.theme.background;
      pen.lineWidth = halo;
      pen.strokeText(text, left, middle);
    }
    pen.fillStyle = colour;
    pen.fillText(text, left, middle);
  }
}

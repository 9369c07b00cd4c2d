// What is drawn, as plain objects, and the geometry of it. Everything is in pixels of the screen without the shift of
// the view ("plane": world times zoom), so that panning changes none of it.

const REACH = 7; // pixels from a line at which it still counts as touched
const SMALLEST = 9; // a node can be touched this far from its middle, however small it is drawn

export const ROOM = { side: 60, top: 24, bottom: 30 }; // around the outermost nodes, for their names

export class Scene {
  constructor() {
    this.nodes = new Map();
    this.edges = new Map();
    this.pane = [-Infinity, -Infinity, Infinity, Infinity]; // left, top, right, bottom
    this.revision = 0; // counts changes: what was placed for another revision is outdated
  }

  set(network, data) {
    this.network = network;
    this.start = data.start;
    this.nodes = new Map(data.nodes.map((node) => [node.id, { ...node, edges: [] }]));
    this.edges = new Map(data.edges.map((edge) => [edge.id, edge]));
    for (const edge of data.edges) {
      this.nodes.get(edge.from).edges.push(edge.id);
      this.nodes.get(edge.to).edges.push(edge.id);
    }
    this.changed();
  }

  changed() {
    this.revision += 1;
  }

  get scale() {
    return this.network.body.view.scale;
  }

  get shift() {
    return this.network.body.view.translation;
  }

  place(id) {
    const { x, y } = this.network.body.nodes[id]; // not the data's: the reader may have dragged it
    return { x: x * this.scale, y: y * this.scale };
  }

  radius(id) {
    return this.nodes.get(id).size * this.scale;
  }

  /** The point at `share` of an edge, bent or not. */
  along(id, share) {
    const edge = this.edges.get(id);
    if (edge.smooth) {
      const { x, y } = this.network.body.edges[id].edgeType.getPoint(share);
      return { x: x * this.scale, y: y * this.scale };
    }
    const [from, to] = [this.place(edge.from), this.place(edge.to)];
    return { x: from.x + (to.x - from.x) * share, y: from.y + (to.y - from.y) * share };
  }

  /** Straight pieces of all edges, good enough to tell what lies on a line. */
  pieces() {
    const pieces = [];
    for (const [id, edge] of this.edges) {
      const stops = edge.smooth ? [0, 0.25, 0.5, 0.75, 1] : [0, 1];
      const points = stops.map((share) => this.along(id, share));
      for (let at = 1; at < points.length; at += 1) pieces.push([points[at - 1], points[at]]);
    }
    return pieces;
  }

  neighbours(id) {
    const near = new Set();
    for (const edge of this.nodes.get(id)?.edges ?? []) near.add(this.otherEnd(edge, id));
    return near;
  }

  otherEnd(edge, id) {
    const { from, to } = this.edges.get(edge);
    return from === id ? to : from;
  }

  nodeAt(point) {
    let [found, least] = [null, Infinity];
    for (const id of this.nodes.keys()) {
      const { x, y } = this.place(id);
      const distance = Math.hypot(x - point.x, y - point.y);
      if (distance < least && distance <= Math.max(this.radius(id) + 2, SMALLEST)) [found, least] = [id, distance];
    }
    return found;
  }

  edgeAt(point) {
    let [found, least] = [null, REACH];
    const [x, y] = [point.x / this.scale, point.y / this.scale];
    for (const id of this.edges.keys()) {
      const { from, to, edgeType } = this.network.body.edges[id];
      const distance = edgeType.getDistanceToEdge(from.x, from.y, to.x, to.y, x, y) * this.scale;
      if (distance < least) [found, least] = [id, distance];
    }
    return found;
  }

  /** The pane, as it lies on the world when all is in sight: names keep inside of it at any zoom. */
  frame() {
    return this.pane.map((side) => side * this.scale);
  }

  /** The corners of the world. */
  bounds() {
    const box = { left: Infinity, top: Infinity, right: -Infinity, bottom: -Infinity };
    for (const id of this.nodes.keys()) {
      const { x, y } = this.network.body.nodes[id];
      box.left = Math.min(box.left, x);
      box.right = Math.max(box.right, x);
      box.top = Math.min(box.top, y);
      box.bottom = Math.max(box.bottom, y);
    }
    return box;
  }
}

// One graph on the page: it owns the vis-network, keeps it in step with the data, and tells what the reader does.
// Nothing is ever animated and no node moves unless it is dragged.

import { listen } from "./keys.js";
import { Labels } from "./labels.js";
import { fillLegend, hideTip, showTip } from "./panels.js";
import { ROOM, Scene } from "./scene.js";
import { readTheme, sameTheme, wardrobe } from "./theme.js";
import { aboutEdge, aboutNode, spoken } from "./words.js";

const CLOSEST = 1.35; // a small graph is not blown up to fill the pane
const NEAREST = 6;
const FURTHEST = 0.04;
const TWICE = 400; // milliseconds in which a second click is part of a double click
const TIP_AFTER = 250;
const SOME_NODES = 300; // up to here names find new places while a node is dragged, not only afterwards
const MANY_EDGES = 2500; // more than that are left out while the view is dragged

export class View {
  constructor(root, vis) {
    this.root = root;
    this.vis = vis;
    this.canvas = root.querySelector(".attest-canvas");
    this.legend = root.querySelector(".attest-legend");
    this.tip = root.querySelector(".attest-tip");
    this.live = root.querySelector(".attest-live");
    this.scene = new Scene();
    this.labels = new Labels(this.scene);
    this.theme = null;
    this.data = null;
    this.selected = null;
    this.hovered = null;
    this.marked = null; // by the keyboard
    this.lastNode = null;
    this.turn = 0; // counts what the reader did; what Python says about an earlier turn is outdated
    this.fitted = true; // until the reader zooms or pans
    this.dragged = new Set();
    this.clicked = { id: null, at: -Infinity };
    this.tell = () => {};
    listen(root, this);
    this.listenToPage();
    root.attestGraph = this.probe();
  }

  // --- data ---------------------------------------------------------------------------------------------------------

  show(data, began) {
    const theme = readTheme(this.root);
    const dressed = sameTheme(this.theme, theme);
    if (dressed && data === this.data) return;
    const before = this.data;
    this.data = data;
    this.theme = theme;
    this.began = before === null ? began : performance.now();
    if (before?.start !== data.start) {
      this.fitted = true;
      this.dragged.clear();
      this.marked = null;
    }
    this.root.style.height = data.height;
    this.root.setAttribute("aria-label", data.summary);
    this.root.dataset.ready = "false";
    this.hovered = null;
    this.settled = false; // what vis-network draws while it is being built is not worth any names
    hideTip(this.tip);
    if (dressed && this.network) this.change();
    else this.build();
    this.labels.dress(theme);
    fillLegend(this.legend, data.legend, theme.tint, () => this.fitted && this.fit());
    this.root.dataset.nodes = data.nodes.length;
    this.root.dataset.edges = data.edges.length;
    if (this.selected !== null && !this.has(this.selected)) this.selected = null;
    this.highlight();
    this.settled = true;
    if (this.fitted) this.fit();
    else this.redraw();
  }

  /** A new network, for the first picture and for another theme; the view stays where it was. */
  build() {
    const view = this.network && { scale: this.network.getScale(), position: this.network.getViewPosition() };
    const places = this.network && this.network.getPositions([...this.dragged].filter((id) => this.scene.nodes.has(id)));
    this.network?.destroy();
    const dress = wardrobe(this.theme, this.data);
    this.sent = new Map();
    this.nodes = new this.vis.DataSet(this.data.nodes.map((node) => this.note(dress.node({ ...node, ...places?.[node.id] }))));
    this.edges = new this.vis.DataSet(this.data.edges.map((edge) => this.note(dress.edge(edge))));
    const { groups, ...options } = this.data.options;
    options.interaction = { ...options.interaction, hideEdgesOnDrag: this.data.edges.length > MANY_EDGES };
    this.network = new this.vis.Network(this.canvas, { nodes: this.nodes, edges: this.edges }, options);
    this.network.canvas.frame.tabIndex = -1; // the root has the focus
    this.scene.set(this.network, this.data);
    this.listenToNetwork();
    if (view) this.network.moveTo(view);
  }

  /** Only what is new, gone or different; a node that was dragged stays where it is. */
  change() {
    const dress = wardrobe(this.theme, this.data);
    const keep = new Set();
    const update = (items, put, set) => {
      const changed = [];
      for (const item of items) {
        keep.add(item.id);
        const before = this.sent.get(item.id);
        if (this.dragged.has(item.id)) {
          delete item.x;
          delete item.y;
        }
        const dressed = put(item);
        this.note(dressed);
        if (before !== this.sent.get(item.id)) changed.push(dressed);
      }
      set.update(changed);
    };
    const [nodes, edges] = [this.data.nodes.map((node) => ({ ...node })), this.data.edges.map((edge) => ({ ...edge }))];
    const gone = (set) => set.getIds().filter((id) => !keep.has(id));
    update(nodes, dress.node, this.nodes);
    update(edges, dress.edge, this.edges);
    for (const set of [this.edges, this.nodes]) {
      const ids = gone(set);
      for (const id of ids) this.sent.delete(id);
      set.remove(ids);
    }
    this.scene.set(this.network, this.data);
  }

  note(item) {
    this.sent.set(item.id, JSON.stringify(item));
    return item;
  }

  has(id) {
    return this.scene.nodes.has(id) || this.scene.edges.has(id);
  }

  // --- selection ----------------------------------------------------------------------------------------------------

  /** From Python. What it says of an earlier turn is older than what the reader has done since. */
  select(said) {
    if (!said || said.turn < this.turn) return;
    this.turn = said.turn;
    this.selected = said.selected;
    if (!this.network) return;
    this.highlight();
    this.bringIntoSight(this.selected);
    this.redraw();
  }

  highlight() {
    const chosen = this.selected !== null && this.has(this.selected) ? this.selected : null;
    const isNode = this.scene.nodes.has(chosen);
    const selection = { nodes: isNode ? [chosen] : [], edges: chosen && !isNode ? [chosen] : [] };
    this.network.setSelection(selection, { highlightEdges: false });
    this.root.dataset.selected = chosen ?? "";
  }

  choose(id) {
    this.selected = id;
    this.highlight();
    this.redraw();
    const kind = id === null ? "none" : this.scene.nodes.has(id) ? "node" : "edge";
    this.report(kind, id);
  }

  report(kind, id) {
    this.turn += 1;
    this.tell({ kind, id, turn: this.turn });
  }

  // --- the pointer --------------------------------------------------------------------------------------------------

  listenToNetwork() {
    const { network } = this;
    network.on("afterDrawing", (pen) => this.draw(pen));
    network.on("click", ({ pointer }) => this.click(this.at(pointer.DOM)));
    network.on("doubleClick", ({ pointer }) => this.expand(this.at(pointer.DOM)));
    network.on("zoom", () => this.moved());
    network.on("dragStart", () => this.hover(null));
    network.on("dragging", ({ nodes }) => nodes.length && this.scene.nodes.size <= SOME_NODES && this.scene.changed());
    network.on("dragEnd", ({ nodes }) => this.moved(nodes));
    network.on("resize", () => this.fitted && this.fit());
  }

  listenToPage() {
    const { root, canvas } = this;
    let waiting = 0;
    canvas.onpointerdown = () => root.focus({ preventScroll: true });
    canvas.onpointermove = (event) => {
      cancelAnimationFrame(waiting);
      if (event.buttons) return;
      const box = canvas.getBoundingClientRect();
      const point = { x: event.clientX - box.left, y: event.clientY - box.top };
      waiting = requestAnimationFrame(() => this.network && this.hover(this.at(point), point));
    };
    canvas.onpointerleave = () => {
      cancelAnimationFrame(waiting);
      this.hover(null);
    };
    root.onblur = () => this.redraw(); // the mark shows only while the keyboard is here
    root.onfocus = () => this.redraw();
    for (const button of root.querySelectorAll("[data-zoom]")) {
      const steps = { in: () => this.zoom(1.25), out: () => this.zoom(0.8), fit: () => this.fit() };
      button.onclick = steps[button.dataset.zoom];
    }
    document.fonts.ready.then(() => {
      if (!this.network) return;
      this.labels.dress(this.theme); // measured with another font until now
      this.redraw();
    });
  }

  /** What is at this point of the canvas: node, name, count, line, in this order. */
  at({ x, y }) {
    const { scene } = this;
    const point = { x: x - scene.shift.x, y: y - scene.shift.y };
    return scene.nodeAt(point) ?? this.labels.at(point) ?? scene.edgeAt(point);
  }

  click(id) {
    const now = performance.now();
    const again = id !== null && id === this.clicked.id && now - this.clicked.at < TWICE;
    this.clicked = { id, at: now };
    if (again) return;
    this.marked = null;
    if (this.scene.nodes.has(id)) this.lastNode = id;
    if (id !== null || this.selected !== null) this.choose(id);
  }

  expand(id) {
    if (this.scene.nodes.has(id)) this.report("expand", id);
  }

  hover(id, point) {
    this.canvas.style.cursor = id === null ? "" : "pointer";
    clearTimeout(this.tipTimer);
    if (id === null || id !== this.hovered) hideTip(this.tip);
    if (id !== null) this.tipTimer = setTimeout(() => this.explain(id, point), this.tip.hidden ? TIP_AFTER : 0);
    if (id === this.hovered) return;
    this.hovered = id;
    this.redraw();
  }

  explain(id, point) {
    if (id === this.hovered && this.has(id)) showTip(this.tip, this.about(id), point);
  }

  about(id) {
    const { nodes, edges } = this.scene;
    if (nodes.has(id)) return aboutNode(nodes.get(id), nodes.get(id).edges.length);
    const edge = edges.get(id);
    return aboutEdge(edge, nodes.get(edge.from), nodes.get(edge.to));
  }

  moved(nodes = []) {
    for (const id of nodes) this.dragged.add(id);
    if (nodes.length) this.scene.changed();
    else this.fitted = false;
    this.highlight(); // vis-network makes a dragged node its only selection
    hideTip(this.tip);
  }

  // --- the keyboard -------------------------------------------------------------------------------------------------

  mark(id) {
    if (!this.has(id)) return;
    this.marked = id;
    if (this.scene.nodes.has(id)) this.lastNode = id;
    this.live.textContent = spoken(this.about(id));
    this.bringIntoSight(id);
    this.redraw();
  }

  chooseMarked() {
    this.choose(this.marked ?? this.scene.start);
  }

  expandMarked() {
    this.expand(this.marked ?? this.selected);
  }

  letGo() {
    this.marked = null;
    hideTip(this.tip);
    if (this.selected !== null) this.choose(null);
    else this.redraw();
  }

  // --- the view -----------------------------------------------------------------------------------------------------

  zoom(factor) {
    const scale = Math.min(Math.max(this.network.getScale() * factor, FURTHEST), NEAREST);
    this.network.moveTo({ scale });
    this.moved();
  }

  /** All nodes and their names between the edges of the pane, above the legend. */
  fit() {
    const [width, height] = [this.canvas.clientWidth, this.canvas.clientHeight];
    if (!width || !height || !this.data.nodes.length) return;
    const box = this.scene.bounds();
    const room = { ...ROOM, bottom: ROOM.bottom + this.legend.offsetHeight + 8 };
    const fitting = (size, space) => (size > 0 ? Math.max(space, 60) / size : CLOSEST);
    const scale = Math.max(
      Math.min(
        fitting(box.right - box.left, width - 2 * room.side),
        fitting(box.bottom - box.top, height - room.top - room.bottom),
        CLOSEST,
      ),
      FURTHEST,
    );
    const x = (box.left + box.right) / 2;
    const y = (box.top + box.bottom) / 2 + (room.bottom - room.top) / 2 / scale;
    this.network.moveTo({ position: { x, y }, scale });
    const half = { x: (width / 2 - 4) / scale, y: (height / 2 - 4) / scale };
    this.scene.pane = [x - half.x, y - half.y, x + half.x, y + half.y - (this.legend.offsetHeight + 6) / scale];
    this.scene.changed();
    this.fitted = true;
    this.redraw();
  }

  bringIntoSight(id) {
    if (id === null || !this.has(id)) return;
    const { x, y } = this.onCanvas(id);
    const [width, height] = [this.canvas.clientWidth, this.canvas.clientHeight];
    if (x > 20 && y > 20 && x < width - 20 && y < height - 20) return;
    this.network.moveTo({ position: this.network.DOMtoCanvas({ x, y }) });
    this.fitted = false;
  }

  /** With the next frame, however often it is asked for. */
  redraw() {
    this.network?.body.emitter.emit("_requestRedraw");
  }

  onCanvas(id) {
    const { scene } = this;
    const { x, y } = scene.nodes.has(id) ? scene.place(id) : scene.along(id, 0.5);
    return { x: x + scene.shift.x, y: y + scene.shift.y };
  }

  draw(pen) {
    if (!this.settled) return;
    const { scene, labels, selected } = this;
    labels.place(selected);
    const ratio = pen.canvas.width / this.canvas.clientWidth;
    pen.save();
    pen.setTransform(ratio, 0, 0, ratio, scene.shift.x * ratio, scene.shift.y * ratio);
    const focused = this.root.getRootNode().activeElement === this.root;
    if (scene.nodes.has(selected)) this.drawRing(pen, selected, 4, []);
    if (focused && scene.nodes.has(this.marked)) this.drawRing(pen, this.marked, 8, [3, 3]);
    const asked = new Set([focused ? this.marked : null, this.hovered].filter((id) => id !== null));
    labels.draw(pen, selected, asked);
    pen.restore();
    if (this.root.dataset.ready !== "true") {
      this.root.dataset.ready = "true";
      this.root.dataset.paint = Math.round(performance.now() - this.began);
    }
  }

  drawRing(pen, id, distance, dashes) {
    const { x, y } = this.scene.place(id);
    pen.beginPath();
    pen.arc(x, y, this.scene.radius(id) + distance, 0, 2 * Math.PI);
    pen.setLineDash(dashes);
    pen.lineWidth = 2.5;
    pen.strokeStyle = this.theme.accent;
    pen.stroke();
    pen.setLineDash([]);
  }

  close() {
    clearTimeout(this.tipTimer);
    this.network?.destroy();
    this.network = null;
  }

  /** For browser tests: where on the page a node or the middle of an edge is, as {x, y}. */
  probe() {
    const onPage = (id) => {
      const box = this.canvas.getBoundingClientRect();
      const { x, y } = this.onCanvas(id);
      return { x: box.left + x, y: box.top + y };
    };
    return {
      nodeDom: (id) => onPage(id),
      edgeDom: (id) => onPage(id),
      scale: () => this.network.getScale(),
      names: () => this.labels.names.map(({ id }) => id),
    };
  }
}

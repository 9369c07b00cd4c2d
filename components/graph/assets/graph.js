// The graph view's two entries, one for each Streamlit component: `draw` gets a picture, `select` what is selected.
// They meet by the key of the view, in either order; a view lives as long as its element.

import { View } from "./view.js";

const views = new Map(); // key -> View
const selections = new Map(); // key -> the last {selected, turn}, also for a view that is yet to come
let library;

// The UMD build sets a global; imported as a module, it finds nothing else to attach itself to.
const loaded = () => (library ??= import("./vis-network.min.js").then(() => globalThis.vis));

export async function draw({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".attest-graph");
  const began = performance.now();
  const vis = await loaded();
  let view = views.get(data.key);
  if (view?.root !== root) {
    view = new View(root, vis);
    views.set(data.key, view);
    view.select(selections.get(data.key));
  }
  view.tell = (event) => setTriggerValue("event", event);
  view.show(data, began);
  return () => {
    view.close();
    if (views.get(data.key) === view) views.delete(data.key);
  };
}

export function select({ data }) {
  selections.set(data.key, data);
  views.get(data.key)?.select(data);
}

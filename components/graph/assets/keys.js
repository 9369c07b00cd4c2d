// The keyboard: a mark goes from node to node, and through the edges of one; Enter chooses what is marked.

const ARROWS = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] };

export function listen(root, view) {
  const actions = {
    Enter: ({ shiftKey }) => (shiftKey ? view.expandMarked() : view.chooseMarked()),
    " ": () => view.chooseMarked(),
    Escape: () => view.letGo(),
    Home: () => view.mark(view.scene.start),
    e: () => view.mark(nextEdge(view, 1)),
    E: () => view.mark(nextEdge(view, -1)),
    "+": () => view.zoom(1.25),
    "=": () => view.zoom(1.25),
    "-": () => view.zoom(0.8),
    0: () => view.fit(),
  };
  root.onkeydown = (event) => {
    if (event.key === "Tab" || event.ctrlKey || event.metaKey || event.altKey) return;
    event.stopPropagation(); // Streamlit listens for single letters, and R would run the page again
    if (event.composedPath()[0] !== root) return; // a button of ours: its own Enter and Space
    const arrow = ARROWS[event.key];
    const action = arrow ? () => view.mark(nodeToward(view, arrow)) : actions[event.key];
    if (!action) return;
    event.preventDefault();
    action(event);
  };
}

/** The node to step to: near, in that direction, rather a neighbour. */
function nodeToward({ scene, marked }, [right, down]) {
  const here = nodeOf(scene, marked);
  if (here === null) return scene.start;
  const from = scene.place(here);
  const near = scene.neighbours(here);
  let [best, least] = [here, Infinity];
  for (const id of scene.nodes.keys()) {
    const { x, y } = scene.place(id);
    const ahead = (x - from.x) * right + (y - from.y) * down;
    const aside = Math.abs((x - from.x) * down) + Math.abs((y - from.y) * right);
    if (id === here || ahead <= 0 || aside > ahead * 1.2) continue;
    const cost = (ahead + 2 * aside) * (near.has(id) ? 0.5 : 1);
    if (cost < least) [best, least] = [id, cost];
  }
  return best;
}

function nextEdge({ scene, marked, lastNode }, step) {
  const node = scene.nodes.has(lastNode) ? lastNode : scene.start;
  const edges = scene.nodes.get(node)?.edges ?? [];
  if (!edges.length) return marked;
  const at = edges.indexOf(marked);
  return edges[at < 0 ? (step > 0 ? 0 : edges.length - 1) : (at + step + edges.length) % edges.length];
}

function nodeOf(scene, marked) {
  if (scene.nodes.has(marked)) return marked;
  return scene.edges.get(marked)?.from ?? null;
}

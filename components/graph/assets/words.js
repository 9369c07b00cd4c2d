// What tooltips, the legend and screen readers say. All of it ends in textContent: a name may hold anything.

export const STATED = "stated";
export const UNSTATED = "no passage states it";
export const UNSUPPORTED = "unsupported";

export const HELP = {
  stated: "A visible passage states it (an assertion). The number on the line is that of its passages.",
  unstated: "Part of the graph, but no passage states it (a path).",
  unsupported: "No current passage mentions the entity any more (hollow).",
};

const number = (value) => value.toLocaleString("en-US");
const counted = (value, one, many) => `${number(value)} ${value === 1 ? one : many}`;

export const nameOf = (node) => node.name ?? node.label;

export function aboutNode(node, shown) {
  const lines = [node.kind, counted(shown, "relation shown", "relations shown")];
  if (node.hidden) lines.push(`not shown here: ${number(node.hidden)}${node.atLeast ? " or more" : ""}`);
  if (node.hollow) lines.push("unsupported: no current passage mentions it");
  return { title: nameOf(node), lines };
}

export function aboutEdge(edge, source, target) {
  const lines = [edge.type];
  if (edge.kind === "assertion") {
    const passages = counted(edge.passages, "passage", "passages");
    lines.push(`stated by ${passages} in ${counted(edge.documents, "document", "documents")}`);
  } else {
    lines.push(UNSTATED);
  }
  if (edge.weight > 1) lines.push(`${number(edge.weight)} relations folded into one`);
  return { title: `${nameOf(source)} → ${nameOf(target)}`, lines };
}

export const spoken = ({ title, lines }) => [title, ...lines].join(", ");

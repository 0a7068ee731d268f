// The proof graph: which nodes and edges a trace has, what they are, and where they are drawn.

import dagre from "@dagrejs/dagre";
import { LEVELS, levelOf, NOTES, words, type Problem, type Trace } from "./data";

export type Status = "premise" | "passed" | "partial" | "failed" | "malformed" | "missing";

export interface Node {
  key: string; // "p" and a premise's id, "a" and an action's number, "m" and a name that nothing has
  title: string;
  text: string; // a formula
  note: string; // a rule, or what is wrong
  status: Status;
  closure: boolean;
  terminal: boolean;
  x: number;
  y: number;
  width: number;
  height: number;
}

export interface Edge {
  from: string;
  to: string;
  kind: "closure" | "idle" | "aside" | "broken"; // idle: declared, and used by no proof; broken: from what is not admitted
  path: string;
}

export interface Graph {
  nodes: Node[];
  edges: Edge[];
  width: number;
  height: number;
}

/** Larger graphs are drawn without what the answer does not rest on; and not at all if that is too large, too. */
export const LARGEST = 160;

const HEIGHT = 58;
const CHARACTER = 7.4;
const NARROWEST = 128;
const WIDEST = 216; // of a formula, which is shortened beyond
const WIDEST_NOTE = 320; // of a title and a note, which are words and stay whole

type Drawn = Omit<Node, "x" | "y" | "width" | "height">;

/** The nodes and edges of a trace, laid out from the premises down to the answer; null if there are none, or too many. */
export function graphOf(problem: Problem, trace: Trace): Graph | null {
  const premises = new Map(problem.premises.map((premise) => [premise.id, premise]));
  const first = new Map<string, number>();
  const nodes = new Map<string, Drawn>();
  const edges: Omit<Edge, "path">[] = [];
  const add = (node: Drawn) => nodes.set(node.key, node);
  const aside = { closure: false, terminal: false };

  trace.steps.forEach(({ report, formula }, number) => {
    const key = `a${number}`;
    for (const name of new Set(report.dependencies ?? [])) {
      const premise = premises.get(name);
      const earlier = first.get(name);
      let from = `m${name}`;
      let sound = false;
      if (premise !== undefined) {
        from = `p${name}`;
        sound = true;
        const closure = trace.closure.includes(name);
        add({ ...aside, key: from, title: name, text: premise.formula, note: "premise", status: "premise", closure });
      } else if (earlier !== undefined) {
        from = `a${earlier}`;
        sound = trace.steps[earlier]!.report.semantic;
      } else {
        add({ ...aside, key: from, title: name, text: "", note: "names nothing earlier", status: "missing" });
      }
      const idle = report.used !== undefined && !report.used.includes(name);
      edges.push({ from, to: key, kind: !sound ? "broken" : idle ? "idle" : report.in_closure ? "closure" : "aside" });
    }
    const level = LEVELS[levelOf(report.signal)]!;
    const failed = (report.findings ?? []).find((finding) => !NOTES.has(finding.code));
    const rule = words(report.declared_rule ?? "no rule");
    add({
      key,
      title: report.id ?? `action ${number + 1}`,
      text: formula ?? report.conclusion ?? "",
      note: failed === undefined ? rule : words(failed.code),
      status: level.name as Status,
      closure: report.in_closure,
      terminal: report.terminal,
    });
    if (report.id !== undefined && !first.has(report.id)) first.set(report.id, number);
  });

  if (nodes.size > LARGEST) for (const [key, node] of nodes) if (!node.closure) nodes.delete(key);
  return nodes.size === 0 || nodes.size > LARGEST ? null : placed([...nodes.values()], edges.filter((e) => nodes.has(e.from) && nodes.has(e.to)));
}

function placed(nodes: Drawn[], edges: Omit<Edge, "path">[]): Graph {
  const graph = new dagre.graphlib.Graph();
  graph.setGraph({ rankdir: "TB", nodesep: 16, ranksep: 42, marginx: 8, marginy: 8 });
  graph.setDefaultEdgeLabel(() => ({}));
  const widthOf = (node: Drawn) =>
    Math.max(
      NARROWEST,
      Math.min(WIDEST, 30 + CHARACTER * node.text.length),
      Math.min(WIDEST_NOTE, 58 + 8 * Math.min(20, node.title.length) + 6 * node.note.length),
    );
  for (const node of nodes) graph.setNode(node.key, { width: widthOf(node), height: HEIGHT });
  for (const edge of edges) graph.setEdge(edge.from, edge.to);
  dagre.layout(graph);
  const size = graph.graph();
  return {
    nodes: nodes.map((node) => {
      const { x, y } = graph.node(node.key) as { x: number; y: number };
      return { ...node, x, y, width: widthOf(node), height: HEIGHT };
    }),
    edges: edges.map((edge) => ({ ...edge, path: curve(graph.edge(edge.from, edge.to).points as Point[]) })),
    width: size.width ?? 0,
    height: size.height ?? 0,
  };
}

interface Point {
  x: number;
  y: number;
}

/** A smooth line: through the middles between points, bent towards the points. */
function curve(points: Point[]): string {
  const [start, ...rest] = points as [Point, ...Point[]];
  const last = rest.pop()!;
  let path = `M${start.x},${start.y}`;
  rest.forEach((point, number) => {
    const next = rest[number + 1] ?? last;
    const end = number + 1 < rest.length ? { x: (point.x + next.x) / 2, y: (point.y + next.y) / 2 } : last;
    path += `Q${point.x},${point.y} ${end.x},${end.y}`;
  });
  return rest.length > 0 ? path : `${path}L${last.x},${last.y}`;
}

/** The nearest node in the direction of an arrow key. */
export function neighbour(graph: Graph, key: string, arrow: string): string | undefined {
  const here = graph.nodes.find((node) => node.key === key);
  if (here === undefined) return graph.nodes[0]?.key;
  const upright = arrow === "ArrowUp" || arrow === "ArrowDown";
  const sign = arrow === "ArrowDown" || arrow === "ArrowRight" ? 1 : -1;
  let best: Node | undefined;
  let least = Infinity;
  for (const node of graph.nodes) {
    const along = sign * (upright ? node.y - here.y : node.x - here.x);
    const across = Math.abs(upright ? node.x - here.x : node.y - here.y);
    const distance = upright ? 3 * along + across : along + 8 * across;
    if (along > 1 && distance < least) [best, least] = [node, distance];
  }
  return best?.key;
}

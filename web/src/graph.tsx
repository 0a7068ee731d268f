// The proof graph as a picture: one focusable node at a time, arrow keys go from node to node.

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { neighbour, type Graph, type Node } from "./layout";

const MARKS = { premise: "", passed: "✓", partial: "~", failed: "✗", malformed: "∅", missing: "?" } as const;
const SMALLEST = 0.3;
const TALLEST = 0.62; // of the window, as the style sheet has it

interface Props {
  graph: Graph;
  selected: string | null;
  select: (key: string) => void;
}

export function GraphView({ graph, selected, select }: Props) {
  const frame = useRef<HTMLDivElement>(null);
  const [room, setRoom] = useState(graph.width);
  const [chosen, setChosen] = useState<number | null>(null);
  const fitting = Math.max(SMALLEST, Math.min(1, room / graph.width, Math.min(640, TALLEST * innerHeight) / graph.height));
  const zoom = chosen ?? fitting;
  useLayoutEffect(() => {
    const measure = () => setRoom(frame.current!.offsetWidth - 2);
    const observer = new ResizeObserver(measure);
    setChosen(null);
    measure();
    observer.observe(frame.current!);
    return () => observer.disconnect();
  }, [graph]);
  useEffect(() => {
    const node = graph.nodes.find((candidate) => candidate.key === selected);
    const box = frame.current;
    if (node === undefined || box === null) return;
    if (box.scrollWidth > box.clientWidth) box.scrollLeft = node.x * zoom - box.clientWidth / 2;
    if (box.scrollHeight > box.clientHeight) box.scrollTop = node.y * zoom - box.clientHeight / 2;
  }, [graph, selected, zoom]);

  const reachable = graph.nodes.some((node) => node.key === selected) ? selected : graph.nodes.at(-1)?.key;
  const pressed = (event: KeyboardEvent) => {
    if (!event.key.startsWith("Arrow") || reachable == null) return;
    event.preventDefault();
    const next = neighbour(graph, reachable, event.key);
    if (next === undefined) return;
    select(next);
    frame.current?.querySelector<SVGGElement>(`[data-key="${CSS.escape(next)}"]`)?.focus({ preventScroll: true });
  };

  return (
    <div class="graph">
      <div class="graph-frame" ref={frame}>
        <svg
          role="group"
          aria-label="Proof graph; arrow keys go from node to node"
          width={graph.width * zoom}
          height={graph.height * zoom}
          viewBox={`0 0 ${graph.width} ${graph.height}`}
          onKeyDown={pressed}
        >
          <defs>
            {["closure", "idle", "aside", "broken"].map((kind) => (
              <marker id={`tip-${kind}`} class={`tip ${kind}`} viewBox="0 0 8 8" refX="7" refY="4" markerUnits="userSpaceOnUse" markerWidth="9" markerHeight="9" orient="auto">
                <path d="M0,0.8L7,4L0,7.2Z" />
              </marker>
            ))}
          </defs>
          <g aria-hidden="true">
            {graph.edges.map((edge) => (
              <path
                class={`edge ${edge.kind}${selected === edge.to || selected === edge.from ? " near" : ""}`}
                data-from={edge.from}
                data-to={edge.to}
                d={edge.path}
                marker-end={`url(#tip-${edge.kind})`}
              />
            ))}
          </g>
          {graph.nodes.map((node) => (
            <NodeView node={node} chosen={node.key === selected} reachable={node.key === reachable} select={select} />
          ))}
        </svg>
      </div>
      <div class="zoom" role="group" aria-label="Size of the graph">
        <button type="button" aria-label="Smaller" onClick={() => setChosen(Math.max(SMALLEST, zoom / 1.2))}>−</button>
        <button type="button" aria-label="Fit" onClick={() => setChosen(null)}>fit</button>
        <button type="button" aria-label="Larger" onClick={() => setChosen(Math.min(2, zoom * 1.2))}>+</button>
      </div>
    </div>
  );
}

function NodeView({ node, chosen, reachable, select }: { node: Node; chosen: boolean; reachable: boolean; select: (key: string) => void }) {
  const { width, height, status } = node;
  const cut = (text: string, length: number) => {
    const kept = Math.max(0, length - 1);
    return text.length > length ? `${text.slice(0, Math.ceil(kept / 2))}…${text.slice(text.length - Math.floor(kept / 2))}` : text;
  };
  const shown = {
    title: cut(node.title, 20),
    note: cut(node.note, Math.max(8, Math.floor((width - 56 - 8 * Math.min(20, node.title.length)) / 5.9))),
    text: cut(node.text, Math.floor((width - 26) / 7.3)),
  };
  const place = node.closure ? "the answer rests on it" : "the answer does not rest on it";
  const enter = (event: KeyboardEvent) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    event.stopPropagation();
    select(node.key);
  };
  return (
    <g
      class={`node ${status} ${node.closure ? "inside" : "outside"}${chosen ? " chosen" : ""}${node.terminal ? " terminal" : ""}`}
      transform={`translate(${node.x - width / 2},${node.y - height / 2})`}
      role="button"
      tabindex={reachable ? 0 : -1}
      aria-pressed={chosen}
      aria-label={`${shown.title} ${shown.note} ${MARKS[status]} ${shown.text}; ${status}: ${node.text}; ${place}`}
      data-key={node.key}
      onClick={() => select(node.key)}
      onKeyDown={enter}
    >
      <title>{`${node.title} ${node.note}\n${node.text}`}</title>
      <rect class="halo" x="-4" y="-4" width={width + 8} height={height + 8} rx="13" />
      <rect class="box" width={width} height={height} rx="9" />
      <text class="title" x="13" y="22">{shown.title}</text>{" "}
      <text class="note" x={width - (MARKS[status] === "" ? 13 : 29)} y="22" text-anchor="end">{shown.note}</text>{" "}
      {MARKS[status] !== "" && <text class="mark" x={width - 13} y="22" text-anchor="end">{MARKS[status]}</text>}{" "}
      <text class="text" x="13" y="43">{shown.text}</text>
    </g>
  );
}

/** A node by its name and country; letters rather than a flag, which half of all systems cannot draw. */
export function NodeName({ node }: { node: { name: string; country: string | null } }) {
  return (
    <span title={node.name}>
      {node.name}
      {node.country !== null && <span class="muted"> {node.country}</span>}
    </span>
  );
}

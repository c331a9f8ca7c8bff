import { Country, FlaggedName } from './flag.js';

/** A node by its name and country. */
export function NodeName({ node }: { node: { name: string; country: string | null } }) {
  return (
    <span title={node.name}>
      <FlaggedName name={node.name} />
      {node.country !== null && (
        <span class="muted">
          {' '}
          <Country code={node.country} />
        </span>
      )}
    </span>
  );
}

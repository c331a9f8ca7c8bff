import type { ComponentChildren } from 'preact';

/** A figure that people look at first; in a `dl` of class `tiles`. */
export function Tile({ name, value, note }: { name: string; value: ComponentChildren; note?: ComponentChildren }) {
  return (
    <div class="tile">
      <dt>{name}</dt>
      <dd>
        {value}
        {note !== undefined && <small>{note}</small>}
      </dd>
    </div>
  );
}

import { formatBytes } from '../../shared/format/amounts.js';

/** What came from visitors and what went to them. */
export function Flow({ inlet, outlet }: { inlet: number; outlet: number }) {
  return (
    <span class="nowrap">
      <span title="From visitors">
        <span aria-hidden="true">↓ </span>
        <span class="hidden">from visitors </span>
        {formatBytes(inlet)}
      </span>
      {' · '}
      <span title="To visitors">
        <span aria-hidden="true">↑ </span>
        <span class="hidden">to visitors </span>
        {formatBytes(outlet)}
      </span>
    </span>
  );
}

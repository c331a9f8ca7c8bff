import type { Socket } from 'node:net';
import { Flow } from './visits.js';

/** Connections that stay open, and those that could not be opened, with the reason. */
export interface OpenFlows {
  flows: Flow[];
  refused: string[];
}

/** `name`: of the copy that the connection goes through. */
export async function openAll(wanted: readonly { name: string; dial: () => Promise<Socket> }[]): Promise<OpenFlows> {
  const opened = await Promise.allSettled(wanted.map(async ({ name, dial }) => new Flow(name, await dial())));
  return {
    flows: opened.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : [])),
    refused: opened.flatMap((result, at) =>
      result.status === 'rejected' ? [`${wanted[at]?.name} (not opened: ${String(result.reason)})`] : [],
    ),
  };
}

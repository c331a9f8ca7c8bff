import type { TunnelView } from '@gatehouse/contracts';

type Ports = Pick<TunnelView, 'listen_port'> & Partial<Pick<TunnelView, 'port_count'>>;

/** `6000`, or `6000-6010`. */
export function textOfPorts({ listen_port: first, port_count: count = 1 }: Ports): string {
  return count > 1 ? `${first}-${first + count - 1}` : String(first);
}

/** What was typed for the ports of a tunnel; with none, as many free ones as the target has. */
export function portsOf(text: string, target: string): { listen_port: number | string; port_count: number } {
  const said = text.trim();
  if (said === '') return { listen_port: 0, port_count: sizeOf(/:(\d{1,5})-(\d{1,5})(?:[#,\s]|$)/.exec(target)) ?? 1 };
  const range = /^(\d{1,5})\s*[-–]\s*(\d{1,5})$/.exec(said);
  const count = sizeOf(range);
  if (range && count !== null) return { listen_port: Number(range[1]), port_count: count };
  // What is no port goes as it is, which the service refuses in its own words.
  return { listen_port: /^\d+$/.test(said) ? Number(said) : said, port_count: 1 };
}

function sizeOf(range: RegExpExecArray | null): number | null {
  const count = range ? Number(range[2]) - Number(range[1]) + 1 : 0;
  return count >= 1 ? count : null;
}

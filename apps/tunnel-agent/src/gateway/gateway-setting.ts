import { Complaint } from '../options/command-line.js';

/** The address of a gateway's console, without a path. @throws Complaint */
export function readGateway(text: string | undefined): string {
  if (!text) throw new Complaint((words) => words.text('usage.noGateway'));
  const url = URL.canParse(text) ? new URL(text) : null;
  const isPlain = url !== null && url.pathname === '/' && url.search === '' && url.hash === '' && url.username === '';
  if (!isPlain || !/^https?:$/.test(url.protocol)) {
    throw new Complaint((words) => words.text('usage.gateway', { text }));
  }
  return url.origin;
}

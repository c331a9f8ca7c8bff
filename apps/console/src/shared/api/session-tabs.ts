/** What the tabs of one console say to each other about their login. */
export type TabMessage =
  | { kind: 'ask' }
  /** To a tab that asked. */
  | { kind: 'answer'; token: string }
  | { kind: 'signed-in'; token: string }
  | { kind: 'signed-out' }
  /** The service no longer takes this token. */
  | { kind: 'expired'; token: string };

/** The other tabs of the same console. Nothing that is sent leaves the browser or the page's origin. */
export interface SessionTabs {
  send: (message: TabMessage) => void;
  onMessage: (listener: (message: TabMessage) => void) => void;
}

const KINDS_WITH_TOKEN: ReadonlySet<unknown> = new Set(['answer', 'signed-in', 'expired']);
const KINDS_ALONE: ReadonlySet<unknown> = new Set(['ask', 'signed-out']);

/** @param name of the console: another one on the same origin has its own login */
export function openSessionTabs(name: string): SessionTabs {
  const channel = new BroadcastChannel(name);
  return {
    send: (message) => channel.postMessage(message),
    onMessage: (listener) => {
      channel.onmessage = ({ data }: MessageEvent<unknown>) => {
        if (isTabMessage(data)) listener(data);
      };
    },
  };
}

/** A tab that was opened before an update may send something else. */
function isTabMessage(data: unknown): data is TabMessage {
  if (typeof data !== 'object' || data === null || !('kind' in data)) return false;
  if (KINDS_ALONE.has(data.kind)) return true;
  return KINDS_WITH_TOKEN.has(data.kind) && 'token' in data && typeof data.token === 'string';
}

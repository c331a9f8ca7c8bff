import { createContext, type ComponentChildren } from 'preact';
import { useCallback, useContext, useState } from 'preact/hooks';
import { FlaggedName } from './flag.js';
import { t } from '../messages/index.js';

export type Tone = 'good' | 'bad';

/** What a notice offers to do next: undo, or show what was made. It stays longer, and goes when it was used. */
export interface NoticeAction {
  label: string;
  run: () => void;
}

interface Notice {
  id: number;
  text: string;
  tone: Tone;
  action: NoticeAction | undefined;
}

type Notify = (text: string, tone?: Tone, action?: NoticeAction) => void;

const SHOWN_MS = 6_000;
const SHOWN_WITH_ACTION_MS = 15_000;
const MAX_SHOWN = 4;

const NoticeContext = createContext<Notify>(() => undefined);

/** Shows results in a corner of the page and announces them to screen readers. */
export function useNotify(): Notify {
  return useContext(NoticeContext);
}

let lastId = 0;

export function NoticeProvider({ children }: { children: ComponentChildren }) {
  const [notices, setNotices] = useState<readonly Notice[]>([]);
  const dismiss = useCallback((id: number) => setNotices((all) => all.filter((notice) => notice.id !== id)), []);
  const notify = useCallback(
    (text: string, tone: Tone = 'good', action?: NoticeAction) => {
      lastId += 1;
      const id = lastId;
      setNotices((all) => [...all, { id, text, tone, action }].slice(-MAX_SHOWN));
      // What went wrong stays until it is put away.
      if (tone === 'good') setTimeout(() => dismiss(id), action ? SHOWN_WITH_ACTION_MS : SHOWN_MS);
    },
    [dismiss],
  );
  return (
    <NoticeContext.Provider value={notify}>
      {children}
      <div class="notices">
        <NoticeList notices={notices} tone="good" dismiss={dismiss} />
        <NoticeList notices={notices} tone="bad" dismiss={dismiss} />
      </div>
    </NoticeContext.Provider>
  );
}

interface NoticeListProps {
  notices: readonly Notice[];
  tone: Tone;
  dismiss: (id: number) => void;
}

/** Two regions, there from the start: readers announce only what changes in a region that they know. */
function NoticeList({ notices, tone, dismiss }: NoticeListProps) {
  return (
    <div role={tone === 'bad' ? 'alert' : 'status'}>
      {notices
        .filter((notice) => notice.tone === tone)
        .map(({ id, text, action }) => (
          <p key={id} class={`notice ${tone}`}>
            <span>
              <FlaggedName name={text} />
            </span>
            {action && (
              <button
                type="button"
                class="small"
                onClick={() => {
                  dismiss(id);
                  action.run();
                }}
              >
                {action.label}
              </button>
            )}
            <button type="button" class="quiet" aria-label={t('notice.dismiss')} onClick={() => dismiss(id)}>
              ×
            </button>
          </p>
        ))}
    </div>
  );
}

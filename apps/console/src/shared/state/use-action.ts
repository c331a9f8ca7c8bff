import { useCallback, useState } from 'preact/hooks';
import { messageOf } from '../api/api-error.js';
import { useNotify } from '../components/notices.js';

export interface Action {
  busy: boolean;
  /** Runs the work once at a time; a failure is shown as a notice. Resolves with whether it went well. */
  run: (work: () => Promise<unknown>, success?: string) => Promise<boolean>;
}

/** For buttons: something is done, and people hear how it went. */
export function useAction(): Action {
  const [busy, setBusy] = useState(false);
  const notify = useNotify();
  const run = useCallback(
    async (work: () => Promise<unknown>, success?: string) => {
      setBusy(true);
      try {
        await work();
        if (success !== undefined) notify(success);
        return true;
      } catch (error) {
        notify(messageOf(error), 'bad');
        return false;
      } finally {
        setBusy(false);
      }
    },
    [notify],
  );
  return { busy, run };
}

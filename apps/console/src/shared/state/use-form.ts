import { useState } from 'preact/hooks';
import { ApiError, isOutdated, messageOf, problemsOf } from '../api/api-error.js';
import { splitProblems } from './field-problems.js';
import { focusFirstProblem } from './focus-first-problem.js';

export interface Form<T> {
  values: T;
  busy: boolean;
  /** What is wrong with the whole, or with fields that the form does not show. */
  error: string | null;
  /** Why the service refused, as docs/errors.md calls it; null: it did not, or did not answer. */
  code: string | null;
  /** Someone else has changed the row since it was read. */
  outdated: boolean;
  problem: (field: keyof T & string) => string | undefined;
  set: <K extends keyof T>(field: K, value: T[K]) => void;
  /** Shows what was refused beside its fields, for work that runs outside of `submit`. */
  fail: (thrown: unknown) => void;
  /** Forgets what was refused. */
  clear: () => void;
  /** For `onSubmit`: runs the work, puts each refusal beside its field, and leads to the first of them. */
  submit: (work: (values: T) => Promise<unknown>) => (event: Event) => void;
}

export function useForm<T extends object>(initial: T): Form<T> {
  const [values, setValues] = useState(initial);
  const [problems, setProblems] = useState<ReadonlyMap<string, string>>(new Map());
  const [error, setError] = useState<string | null>(null);
  const [failure, setFailure] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const fail = (thrown: unknown): void => {
    const fields = Object.keys(values);
    const { byField, rest } = splitProblems(problemsOf(thrown, fields), fields);
    setFailure(thrown);
    setProblems(byField);
    setError(rest.length > 0 ? rest.join(' ') : byField.size > 0 ? null : messageOf(thrown));
  };
  const clear = (): void => {
    setError(null);
    setProblems(new Map());
    setFailure(null);
  };
  const run = async (work: (values: T) => Promise<unknown>): Promise<void> => {
    setBusy(true);
    clear();
    try {
      await work(values);
    } catch (thrown) {
      fail(thrown);
    } finally {
      setBusy(false);
    }
  };
  return {
    values,
    busy,
    error,
    code: failure instanceof ApiError ? failure.code : null,
    outdated: isOutdated(failure),
    problem: (field) => problems.get(field),
    fail,
    clear,
    set: (field, value) => setValues((before) => ({ ...before, [field]: value })),
    submit: (work) => (event) => {
      event.preventDefault();
      if (!busy) void run(work).then(() => focusFirstProblem(event.target));
    },
  };
}

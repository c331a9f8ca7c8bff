/**
 * Asks the process in the same container whether it is ready, for health checks of containers:
 * `node check-ready.js http://127.0.0.1:8080/readyz`. Exits with 0, or with 1 after a line that says what fails.
 */
const TIMEOUT_MS = 4_000;
const LONGEST_REASON = 500;

async function reasonAgainst(url: string): Promise<string | undefined> {
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) });
    const text = await answer.text();
    return answer.ok ? undefined : `${answer.status} ${text.slice(0, LONGEST_REASON)}`;
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    return cause instanceof Error ? cause.message : 'no answer';
  }
}

const reason = await reasonAgainst(process.argv[2] ?? '');
if (reason !== undefined) process.stdout.write(`not ready: ${reason}\n`);
process.exitCode = reason === undefined ? 0 : 1;

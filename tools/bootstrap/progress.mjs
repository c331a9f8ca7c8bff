const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const PLAIN_REMINDER_MS = 20_000;

function elapsed(since) {
  const seconds = (Date.now() - since) / 1000;
  return seconds < 10 ? `${seconds.toFixed(1)} s` : `${Math.round(seconds)} s`;
}

/**
 * Shows one long step on stderr (stdout stays free for results): a spinner with the elapsed time on a terminal,
 * a plain line now and then everywhere else. `end` leaves one line behind.
 */
export function startStep(label) {
  const started = Date.now();
  const isTerminal = Boolean(process.stderr.isTTY);
  let frame = 0;
  const draw = () => {
    process.stderr.write(`\r\x1b[2K${FRAMES[frame++ % FRAMES.length]} ${label} ${elapsed(started)}`);
  };
  if (!isTerminal) process.stderr.write(`${label} ...\n`);
  const timer = isTerminal
    ? setInterval(draw, 100)
    : setInterval(() => process.stderr.write(`${label}: ${elapsed(started)} so far\n`), PLAIN_REMINDER_MS);
  const finish = (mark, suffix) => {
    clearInterval(timer);
    process.stderr.write(`${isTerminal ? '\r\x1b[2K' : ''}${mark} ${label}: ${suffix} (${elapsed(started)})\n`);
  };
  return {
    end: (suffix = 'done') => finish(isTerminal ? '✓' : '-', suffix),
    fail: () => finish(isTerminal ? '✗' : '-', 'failed'),
  };
}

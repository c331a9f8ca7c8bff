import { localized } from './language.mjs';

const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const PLAIN_REMINDER_MS = 20_000;

function elapsed(since) {
  const seconds = (Date.now() - since) / 1000;
  const shown = seconds < 10 ? seconds.toFixed(1) : Math.round(seconds);
  return localized(`${shown} s`, `${shown} 秒`);
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
    : setInterval(
        () =>
          process.stderr.write(`${label}: ${localized(`${elapsed(started)} so far`, `已用 ${elapsed(started)}`)}\n`),
        PLAIN_REMINDER_MS,
      );
  const finish = (mark, suffix) => {
    clearInterval(timer);
    process.stderr.write(`${isTerminal ? '\r\x1b[2K' : ''}${mark} ${label}: ${suffix} (${elapsed(started)})\n`);
  };
  return {
    end: (suffix = localized('done', '完成')) => finish(isTerminal ? '✓' : '-', suffix),
    fail: () => finish(isTerminal ? '✗' : '-', localized('failed', '失败')),
  };
}

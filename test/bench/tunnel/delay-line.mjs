// A long and fast line as a process of its own: each byte comes out after its time, no faster than the line carries.
// Its ends acknowledge at once, so what TCP's own windows would cost does not show: only what a protocol in it waits for.
import net from 'node:net';

const [target, delayMs, megabits] = process.argv.slice(2).map(Number);
const bytesPerMs = megabits * 125;
/** More than the line itself holds: a sender that is faster than the line has to wait. */
const LIMIT = bytesPerMs * delayMs + 4 * 1024 * 1024;

function direct(from, to) {
  const queue = [];
  let queued = 0;
  let sentUntil = 0;
  let timer = null;
  const flush = () => {
    timer = null;
    const now = performance.now();
    while (queue.length > 0 && queue[0].due <= now && to.writableLength < LIMIT) {
      const { chunk } = queue.shift();
      queued -= chunk?.length ?? 0;
      if (chunk) to.write(chunk);
      else to.end();
    }
    if (from.isPaused() && queued < LIMIT) from.resume();
    if (queue.length > 0) timer = setTimeout(flush, Math.max(0, queue[0].due - now));
  };
  const enter = (chunk) => {
    sentUntil = Math.max(sentUntil, performance.now()) + (chunk?.length ?? 0) / bytesPerMs;
    queue.push({ chunk, due: sentUntil + delayMs });
    queued += chunk?.length ?? 0;
    if (queued >= LIMIT) from.pause();
    timer ??= setTimeout(flush, delayMs);
  };
  from.on('data', enter);
  from.on('end', () => enter(null));
  from.on('error', () => to.destroy());
  from.on('close', () => {
    if (!from.readableEnded) to.destroy();
  });
}

const server = net.createServer({ noDelay: true, allowHalfOpen: true }, (near) => {
  const far = net.connect({ port: target, host: '127.0.0.1', noDelay: true, allowHalfOpen: true });
  direct(near, far);
  direct(far, near);
});
server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }));
process.on('disconnect', () => process.exit(0));

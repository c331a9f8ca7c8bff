// The yardstick: the shortest correct TCP relay that plain Node can be, to one fixed target.
import net from 'node:net';

const target = Number(process.argv[2]);

function join(from, to) {
  from.on('data', (chunk) => {
    if (!to.write(chunk)) from.pause();
  });
  to.on('drain', () => from.resume());
  from.on('end', () => to.end());
  from.on('error', () => to.destroy());
  from.on('close', () => to.destroy());
}

const server = net.createServer({ noDelay: true, allowHalfOpen: true }, (client) => {
  const upstream = net.connect({ port: target, host: '127.0.0.1', noDelay: true, allowHalfOpen: true });
  join(client, upstream);
  join(upstream, client);
});
server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }));
process.on('disconnect', () => process.exit(0));

// A listener that stops: the system takes two connections for it and drops all later ones, as a packet filter would.
import { once } from 'node:events';
import { createServer } from 'node:net';

const server = createServer();
server.listen({ port: 0, host: '0.0.0.0', backlog: 1 });
await once(server, 'listening');
process.send({ port: server.address().port }, () => process.kill(process.pid, 'SIGSTOP'));
process.on('disconnect', () => process.exit());

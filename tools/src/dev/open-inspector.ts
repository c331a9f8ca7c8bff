import { open } from 'node:inspector';

// Loaded with --import, which the processes that a service starts inherit: only the service itself has this port.
const { searchParams } = new URL(import.meta.url);
if (process.argv[1] === searchParams.get('main')) open(Number(searchParams.get('port')), '127.0.0.1');

import { startConsole } from '../shared/frame/start-console.js';
import { messages } from './messages/index.js';

void startConsole('tunnel-gateway', messages, async () => (await import('./app.js')).App);

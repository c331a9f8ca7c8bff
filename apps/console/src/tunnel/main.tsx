import { startConsole } from '../shared/frame/start-console.js';
import { App } from './app.js';

startConsole('tunnel-gateway', App);

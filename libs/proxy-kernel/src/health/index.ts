export { FlowWatch } from './flow-watch.js';
export { HealthBook } from './health-book.js';

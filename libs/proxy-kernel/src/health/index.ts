export { FlowWatch } from './health-book.js';
export { HealthBook } from './health-book.js';
export { watchHop, type HopReports } from './watch-hop.js';

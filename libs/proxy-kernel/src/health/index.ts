export { FlowWatch, HealthTracker } from './health-tracker.js';
export { watchHop, type HopReports } from './watch-hop.js';

/** What runs as a process or thread of its own under `npm start`, as paths in `dist/` and `bundle/` of the service without `.js`. */
export const SERVICE_PROGRAMS = {
  'proxy-gateway': ['main', 'kernel/kernel-main', 'documents/parser-thread', 'rule-sets/rule-set-thread'],
  'resource-sharing': ['main'],
  'tunnel-gateway': ['main', 'edge-supervisor/supervisor-main', 'edge/edge-main', 'edge/password-main'],
};

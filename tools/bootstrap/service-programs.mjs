/**
 * The programs of each service, as paths in `dist/` and `bundle/` of the service without `.js`.
 *
 * `alone`: processes and threads that a service starts. Each is bundled with all that it loads, and loads nothing else.
 * `together`: the service and its commands. They share files with what more than one of them loads.
 */
export const SERVICE_PROGRAMS = {
  'proxy-gateway': {
    alone: ['kernel/kernel-main', 'documents/parser-thread', 'rule-sets/rule-set-thread'],
    together: ['main', 'worker', 'kernel', 'migrate', 'rotate-secrets'],
  },
  'resource-sharing': {
    alone: [],
    together: ['main', 'worker', 'migrate', 'rotate-secrets', 'seed-demo'],
  },
  'tunnel-gateway': {
    alone: ['edge-supervisor/supervisor-main', 'edge/edge-main', 'edge/password-main'],
    together: ['main', 'worker', 'edge', 'migrate', 'rotate-secrets', 'exchange-identity'],
  },
};

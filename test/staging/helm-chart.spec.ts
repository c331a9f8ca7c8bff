import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, type TestContext } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { optionalPeer } from '../support/peers.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const CHART = join(ROOT, 'deploy', 'helm', 'gatehouse');
const SECRET = ['--set', 'existingSecret=secrets'];
/** A Helm that was not built by its project expects an old Kubernetes. */
const CLUSTER = ['--kube-version', '1.33.0'];

interface Container {
  command: string[];
  env?: { name: string; value?: string; valueFrom?: unknown }[];
  securityContext: { readOnlyRootFilesystem: boolean };
  ports?: { name: string; containerPort: number }[];
}

interface Manifest {
  kind: string;
  metadata: { name: string };
  spec: {
    replicas?: number;
    selector?: { matchLabels?: Record<string, string> } & Record<string, unknown>;
    template?: { metadata: { labels: Record<string, string> }; spec: { containers: Container[] } };
    ports?: { name: string; port: number; targetPort: number | string }[];
    rules?: { host: string }[];
  };
}

function render(context: TestContext, ...values: string[]): Manifest[] {
  const helm = optionalPeer(context, 'helm', '--helm');
  const text = execFileSync(helm, ['template', 'gate', CHART, ...CLUSTER, ...SECRET, ...values], { encoding: 'utf8' });
  return parseAllDocuments(text).flatMap((document) => (document.toJS() as Manifest | null) ?? []);
}

/** `a.b` of `{ a: { b: 1 } }`; a map or list that is empty, to be filled by whoever installs the chart, counts as a value. */
function pathsOf(value: unknown, path: readonly string[] = []): string[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || Object.keys(value).length === 0)
    return [path.join('.')];
  return Object.entries(value).flatMap(([name, part]) => pathsOf(part, [...path, name]));
}

const containersOf = (manifests: readonly Manifest[]): Container[] =>
  manifests.flatMap(({ spec }) => spec.template?.spec.containers ?? []);

describe('the Helm chart', () => {
  it('has every value in its README, and no other', () => {
    const values = parse(readFileSync(join(CHART, 'values.yaml'), 'utf8')) as unknown;
    const readme = readFileSync(join(CHART, '..', 'README.md'), 'utf8').split('## Values')[1] ?? '';
    const rows = readme.split('\n').filter((line) => line.startsWith('| `'));
    const named = rows.flatMap((row) =>
      [...(row.split(' | ')[0] ?? '').matchAll(/`([A-Za-z.]+)`/g)].map(([, name]) => name),
    );
    expect(named.toSorted()).toEqual(pathsOf(values).toSorted());
  });

  it('passes the linter of Helm', (context) => {
    const helm = optionalPeer(context, 'helm', '--helm');
    expect(execFileSync(helm, ['lint', '--strict', CHART, ...SECRET], { encoding: 'utf8' })).toContain(
      '0 chart(s) failed',
    );
  });

  it('refuses to be installed without a Secret, and says what it must have', (context) => {
    const helm = optionalPeer(context, 'helm', '--helm');
    const install = (): string =>
      execFileSync(helm, ['template', 'gate', CHART, ...CLUSTER], { encoding: 'utf8', stdio: 'pipe' });
    expect(install).toThrow(/existingSecret: name a Secret with GATEHOUSE_SECRET_KEY/);
  });

  it('runs every program that docker-compose.yml runs, except for backups', (context) => {
    const compose = parse(readFileSync(join(ROOT, 'docker-compose.yml'), 'utf8')) as {
      services: Record<string, { command?: string[] }>;
    };
    const wanted = Object.values(compose.services).flatMap(({ command }) => command?.[1] ?? []);
    const apps = wanted.filter((program) => program.startsWith('apps/'));
    expect(apps.length).toBeGreaterThan(8);
    const programs = containersOf(render(context)).map(({ command }) => command[1] ?? '');
    expect(programs.toSorted()).toEqual(apps.toSorted());
    for (const program of programs) {
      expect(existsSync(join(ROOT, program.replace('/dist/', '/src/').replace(/\.js$/, '.ts'))), program).toBe(true);
    }
  });

  it('sets documented variables only, each once, and keeps the database from the kernels', (context) => {
    const operations = readFileSync(join(ROOT, 'docs', 'operations.md'), 'utf8');
    for (const { env = [], command } of containersOf(render(context))) {
      const names = env.map(({ name }) => name);
      expect(names, command[1]).toEqual([...new Set(names)]);
      for (const name of names) expect(name === 'NODE_ENV' || operations.includes(name), name).toBe(true);
      for (const { value, valueFrom } of env) expect(value ?? valueFrom).toBeDefined();
      if (command[1]?.endsWith('kernel.js')) expect(names).not.toContain('DATABASE_URL');
    }
  });

  it('sends traces of services and workers to a collector, if one is named', (context) => {
    const named = render(context, '--set', 'traces.endpoint=http://collector:4318,traces.samplerArg=0.05');
    const tracing = containersOf(named).filter(({ env = [] }) =>
      env.some(({ name, value }) => name === 'OTEL_EXPORTER_OTLP_ENDPOINT' && value === 'http://collector:4318'),
    );
    const programs = tracing.map(({ command }) => command[1]?.split('/').at(-1));
    expect(programs.filter((program) => program === 'main.js')).toHaveLength(3);
    expect(programs.filter((program) => program === 'worker.js')).toHaveLength(3);
    expect(programs).toHaveLength(6);
    for (const { env = [] } of containersOf(render(context))) {
      expect(env.some(({ name }) => name.startsWith('OTEL_'))).toBe(false);
    }
  });

  it('selects the pods that it makes, and opens ports that they have', (context) => {
    const manifests = render(context);
    const pods = manifests.flatMap(({ spec }) => spec.template ?? []);
    const labelled = (labels: Record<string, unknown>): typeof pods =>
      pods.filter(({ metadata }) => Object.entries(labels).every(([name, value]) => metadata.labels[name] === value));
    for (const { kind, metadata, spec } of manifests) {
      if (kind !== 'Service' && kind !== 'PodDisruptionBudget') continue;
      const selected = labelled(kind === 'Service' ? (spec.selector ?? {}) : (spec.selector?.matchLabels ?? {}));
      expect(selected, metadata.name).toHaveLength(1);
      const known = selected.flatMap(({ spec: pod }) => pod.containers.flatMap(({ ports = [] }) => ports));
      for (const { targetPort } of spec.ports ?? []) {
        if (typeof targetPort === 'string') expect(known.map(({ name }) => name)).toContain(targetPort);
      }
    }
  });

  it('opens the configured ports of tunnels, and writes nothing but its volumes', (context) => {
    const manifests = render(context, '--set', 'tunnelEdge.portRange.from=30000,tunnelEdge.portRange.to=30002');
    const tunnels = manifests.find(({ kind, metadata }) => kind === 'Service' && metadata.name === 'gate-tunnels');
    const ports = tunnels?.spec.ports?.filter(({ port }) => port >= 30_000).map(({ name }) => name);
    expect(ports).toEqual(['tcp-30000', 'udp-30000', 'tcp-30001', 'udp-30001', 'tcp-30002', 'udp-30002']);
    for (const { securityContext } of containersOf(manifests))
      expect(securityContext.readOnlyRootFilesystem).toBe(true);
  });

  it('makes an Ingress for the host names that are given', (context) => {
    const hosts = ['--set', 'ingress.enabled=true,ingress.hosts.proxyGateway=proxy.example'];
    const ingress = render(context, ...hosts).find(({ kind }) => kind === 'Ingress');
    expect(ingress?.spec.rules?.map(({ host }) => host)).toEqual(['proxy.example']);
    expect(render(context).some(({ kind }) => kind === 'Ingress')).toBe(false);
  });
});

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { expect, it, type TestContext } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { optionalPeer } from '../support/peers.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const CHART = join(ROOT, 'deploy', 'helm', 'gatehouse');
/** The oldest that the chart allows, one in between, and the newest that there are schemas of. */
const CLUSTERS = ['1.25.0', '1.33.0', '1.37.0'];
/** Kinds of the Prometheus operator are no part of Kubernetes. */
const FOREIGN = 'monitoring.coreos.com/';

const VALUES: Readonly<Record<string, string>> = {
  'the least': 'existingSecret: secrets',
  everything: `
existingSecret: secrets
image: { repository: registry.example/gatehouse, tag: latest, pullPolicy: Always, pullSecrets: [{ name: registry }] }
env: { OTEL_SERVICE_NAME: gate, SHUTDOWN_TIMEOUT_MS: 20000 }
trustedProxies: 10.0.0.0/8
ingress:
  enabled: true
  className: nginx
  annotations: { nginx.ingress.kubernetes.io/proxy-buffering: 'off' }
  hosts: { proxyGateway: proxy.example, resourceSharing: share.example, tunnelGateway: tunnel.example }
  tlsSecret: tls
serviceMonitor: { enabled: true }
traces: { endpoint: 'http://collector:4318', samplerArg: '0.05' }
proxyGateway: { replicas: 3, env: { AUDIT_WITNESS_FILE: 'off' } }
proxyKernel: { replicas: 3, storageClass: fast, service: { type: LoadBalancer, annotations: { example.com/internal: 'true' } } }
tunnelGateway: { publicUrl: 'https://tunnel.example', publicAddress: 'tunnel.example:8024' }
tunnelEdge: { storageClass: fast, portRange: { from: 30000, to: 30001 } }
`,
  'no load balancer': 'existingSecret: secrets\ntunnelEdge: { service: { type: ClusterIP } }',
};

interface Manifest {
  apiVersion: string;
  kind: string;
  metadata: { name: string };
}

function render(context: TestContext, cluster: string, values: string): Manifest[] {
  const helm = optionalPeer(context, 'helm', '--helm');
  const text = execFileSync(helm, ['template', 'gate', CHART, '--kube-version', cluster, '--values', '-'], {
    encoding: 'utf8',
    input: values,
  });
  return parseAllDocuments(text).flatMap((document) => (document.toJS() as Manifest | null) ?? []);
}

/** Validators of one version by kind. Strict: a field that Kubernetes does not know is an error. */
function validators(folder: string): (manifest: Manifest) => ValidateFunction {
  const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
  const read = (file: string): object => JSON.parse(readFileSync(join(folder, file), 'utf8')) as object;
  ajv.addSchema(read('_definitions.json'));
  const known = new Map<string, ValidateFunction>();
  return ({ apiVersion, kind }) => {
    const [group = '', version] = apiVersion.includes('/') ? apiVersion.split('/') : ['', apiVersion];
    const file = [kind.toLowerCase(), group.split('.')[0], version].filter((part) => part !== '').join('-');
    const validate = known.get(file) ?? ajv.compile(read(`${file}.json`));
    known.set(file, validate);
    return validate;
  };
}

it.for(CLUSTERS)('what the chart makes is valid in Kubernetes %s, with every set of values', (cluster, context) => {
  const schemas = optionalPeer(context, 'kubernetes-schemas', '--helm');
  const validatorOf = validators(join(schemas, `v${cluster}-local-strict`));
  for (const [name, values] of Object.entries(VALUES)) {
    const manifests = render(context, cluster, values).filter(({ apiVersion }) => !apiVersion.startsWith(FOREIGN));
    expect(manifests.length, name).toBeGreaterThan(20);
    for (const manifest of manifests) {
      const validate = validatorOf(manifest);
      validate(manifest);
      expect(validate.errors ?? [], `${name}: ${manifest.kind} ${manifest.metadata.name}`).toEqual([]);
    }
  }
});

it('the schemas refuse a field that Kubernetes does not know', (context) => {
  const schemas = optionalPeer(context, 'kubernetes-schemas', '--helm');
  const manifest = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'wrong' }, spec: { replica: 2 } };
  const validate = validators(join(schemas, 'v1.33.0-local-strict'))(manifest);
  expect(validate(manifest)).toBe(false);
});

import { describe, expect, it } from 'vitest';
import { loadSettings, type Environment } from './load-settings.js';
import { SettingsError } from './settings-error.js';
import { tracingOptions, TracingSettings } from './tracing-settings.js';

const optionsOf = (env: Environment): ReturnType<typeof tracingOptions> =>
  tracingOptions(loadSettings(TracingSettings, env), 'proxy-gateway worker');

const OTEL_EXPORTER_OTLP_ENDPOINT = 'http://collector:4318';

describe('settings of tracing', () => {
  it('are off without an address, and when the SDK is switched off', () => {
    expect(optionsOf({})).toBeNull();
    expect(optionsOf({ OTEL_SERVICE_NAME: 'a', OTEL_TRACES_SAMPLER: 'always_on' })).toBeNull();
    expect(optionsOf({ OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_SDK_DISABLED: 'true' })).toBeNull();
  });

  it('have defaults for everything else', () => {
    expect(optionsOf({ OTEL_EXPORTER_OTLP_ENDPOINT })).toEqual({
      serviceName: 'proxy-gateway-worker',
      resource: {},
      url: 'http://collector:4318/v1/traces',
      headers: {},
      sampler: 'parentbased_always_on',
      ratio: 1,
    });
  });

  it('follow the standard variables', () => {
    const options = optionsOf({
      OTEL_EXPORTER_OTLP_ENDPOINT,
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://127.0.0.1/traces',
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20abc,x=1',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=staging,service.name=other',
      OTEL_TRACES_SAMPLER: 'traceidratio',
      OTEL_TRACES_SAMPLER_ARG: '0.05',
    });
    expect(options).toMatchObject({
      serviceName: 'other',
      resource: { 'deployment.environment.name': 'staging' },
      url: 'https://127.0.0.1/traces',
      headers: { authorization: 'Bearer abc', x: '1' },
      sampler: 'traceidratio',
      ratio: 0.05,
    });
    const named = { OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_SERVICE_NAME: 'mine' };
    expect(optionsOf({ ...named, OTEL_RESOURCE_ATTRIBUTES: 'service.name=other' })?.serviceName).toBe('mine');
  });

  it.each([
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'collector:4318'],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'http://user:secret@collector'],
    ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'grpc://collector'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'secret'],
    ['OTEL_RESOURCE_ATTRIBUTES', 'a=%'],
    ['OTEL_TRACES_SAMPLER', 'sometimes'],
    ['OTEL_TRACES_SAMPLER_ARG', '2'],
    ['OTEL_SDK_DISABLED', 'perhaps'],
  ])('refuse %s=%s, and show no secret', (variable, value) => {
    const read = (): unknown => optionsOf({ [variable]: value });
    expect(read).toThrow(SettingsError);
    expect(read).toThrow(new RegExp(`^${variable}: (?!.*secret)`));
  });
});

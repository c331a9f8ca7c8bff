import { bilingual } from '@gatehouse/i18n';
import { isPair, readPairs, SAMPLERS, tracesUrl, type SamplerName, type TracingOptions } from '@gatehouse/tracing';
import { IsBoolean, IsIn, IsOptional, IsString, IsUrl, Matches, ValidateBy } from 'class-validator';
import { Variable } from './variable.js';

/** An address with a password is refused, and not printed: the variable for headers is the place for it. */
const RECEIVER = { protocols: ['http', 'https'], require_protocol: true, require_tld: false, disallow_auth: true };

/** OpenTelemetry's standard variables. Without an address, tracing is off. */
export class TracingSettings {
  @Variable('OTEL_EXPORTER_OTLP_ENDPOINT', {
    expected: bilingual(
      'the base address of an OTLP/HTTP receiver, such as http://collector:4318',
      'OTLP/HTTP 接收端的基础地址，例如 http://collector:4318',
    ),
    secret: true,
  })
  @IsOptional()
  @IsUrl(RECEIVER)
  otlpEndpoint?: string;

  /** Used as it is, without a path added. */
  @Variable('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', {
    expected: bilingual(
      'the address that takes traces, such as http://collector:4318/v1/traces',
      '接收追踪数据的地址，例如 http://collector:4318/v1/traces',
    ),
    secret: true,
  })
  @IsOptional()
  @IsUrl(RECEIVER)
  otlpTracesEndpoint?: string;

  @Variable('OTEL_EXPORTER_OTLP_HEADERS', {
    kind: 'list',
    expected: bilingual(
      'headers as name=value, separated by commas, with percent-encoded values',
      '以逗号分隔的“名称=值”形式的请求头，值使用百分号编码',
    ),
    secret: true,
  })
  @ArePairs()
  otlpHeaders: readonly string[] = [];

  /** Default: the name of the program, such as `proxy-gateway` or `proxy-gateway-worker`. */
  @Variable('OTEL_SERVICE_NAME', { expected: bilingual('a name for this program in traces', '本程序在追踪中的名称') })
  @IsOptional()
  @IsString()
  otelServiceName?: string;

  @Variable('OTEL_RESOURCE_ATTRIBUTES', {
    kind: 'list',
    expected: bilingual(
      'what traces say about this program, as name=value separated by commas, with percent-encoded values',
      '追踪中关于本程序的信息，以逗号分隔的“名称=值”，值使用百分号编码',
    ),
  })
  @ArePairs()
  otelResource: readonly string[] = [];

  @Variable('OTEL_TRACES_SAMPLER', {
    expected: bilingual(`one of ${SAMPLERS.join(', ')}`, `${SAMPLERS.join('、')} 之一`),
  })
  @IsIn(SAMPLERS)
  otelSampler: SamplerName = 'parentbased_always_on';

  @Variable('OTEL_TRACES_SAMPLER_ARG', {
    expected: bilingual(
      'the part of traces to record, from 0 to 1, such as 0.05',
      '记录的追踪所占的比例，0 到 1，例如 0.05',
    ),
  })
  @Matches(/^(?:0(?:\.\d+)?|\.\d+|1(?:\.0+)?)$/)
  otelSamplerArg = '1';

  @Variable('OTEL_SDK_DISABLED', { kind: 'boolean', expected: bilingual('true or false', 'true 或 false') })
  @IsBoolean()
  otelDisabled = false;
}

/** How to trace a program; null if nobody asked for it. `program`: such as `proxy-gateway worker`. */
export function tracingOptions(settings: Readonly<TracingSettings>, program: string): TracingOptions | null {
  const { otlpEndpoint, otlpTracesEndpoint, otelDisabled } = settings;
  const url = otlpTracesEndpoint ?? (otlpEndpoint === undefined ? undefined : tracesUrl(otlpEndpoint));
  if (url === undefined || otelDisabled) return null;
  const resource = readPairs(settings.otelResource);
  return {
    serviceName: settings.otelServiceName ?? resource['service.name'] ?? program.replaceAll(' ', '-'),
    resource,
    url,
    headers: readPairs(settings.otlpHeaders),
    sampler: settings.otelSampler,
    ratio: Number(settings.otelSamplerArg),
  };
}

function ArePairs(): PropertyDecorator {
  const validate = (texts: unknown): boolean => Array.isArray(texts) && texts.every(isPair);
  return ValidateBy({ name: 'arePairs', validator: { validate } });
}

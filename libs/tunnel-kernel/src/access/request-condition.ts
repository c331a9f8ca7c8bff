import { loosePlaces } from '../vhost/loose-path.js';
import { readLocation, readTarget, type RequestTarget } from '../vhost/request-target.js';
import { IpPatternError } from './ip-pattern.js';

/** A request as rules see it: what is sent to the target, before a host replaces a part of the path. */
export interface RequestFacts {
  method: string;
  target: RequestTarget;
  /** Header fields: name, value, name, value … */
  fields?: { kept: readonly string[] };
}

/**
 * What a visitor asks for. `own`: a page of the gateway itself, which no target sees. `unseen`: the target of a host
 * that passes TLS on reads the requests. Undefined: connections to tunnels have no requests.
 */
export type Asked = RequestFacts | 'own' | 'unseen' | undefined;

/** A path of a rule; `*` is one segment, whatever it is. */
interface RulePath {
  exact: readonly string[];
  /** As lenient servers read it. */
  loose: readonly string[];
}

/** What a rule says about requests. */
export interface RuleRequests {
  /** Each with all that is below it. Null or absent: any. */
  paths?: readonly string[] | null | undefined;
  /** Null or absent: any. */
  methods?: readonly string[] | null | undefined;
}

/** Of IIS and of frameworks that follow it. */
const PATH_FIELDS: ReadonlySet<string> = new Set(['x-original-url', 'x-rewrite-url']);
const METHOD_FIELDS: ReadonlySet<string> = new Set(['x-http-method-override', 'x-http-method', 'x-method-override']);
/** Every server reads such a path in the same way. */
const ONE_READING = /^[a-z0-9/_-]*$/;
/** Some servers cut these off: for them, the path is a shorter one. */
const CUT_OFF = /[;:]|[. ]$/;
const METHOD = /^[A-Z][A-Z0-9_-]{0,31}$/;

/** The canonical form of a path of a rule: segments that `*` stands for, and no slash at the end. @throws IpPatternError */
export function parseRulePath(text: string): string {
  const plain = text.trim();
  readRulePath(plain);
  const segments = plain.split('/').filter((segment) => segment !== '');
  return `/${segments.join('/')}`;
}

/** The canonical form of a method of a rule. @throws IpPatternError */
export function parseRuleMethod(text: string): string {
  const method = text.trim().toUpperCase();
  if (!METHOD.test(method)) throw new IpPatternError(`"${text}" is not a method such as GET or POST`);
  if (method === 'CONNECT' || method === 'TRACE') throw new IpPatternError(`${method} never reaches a host`);
  return method;
}

function readRulePath(text: string): RulePath {
  const path = text.startsWith('/') ? readLocation(text) : null;
  if (path === null) {
    throw new IpPatternError(`"${text}" is not a path such as /admin or /users/*, without .. and encoded slashes`);
  }
  const exact = segmentsOf(path);
  const places = loosePlaces(path);
  const loose = segmentsOf(places?.[0] ?? '');
  // Such a path would be several, or another one at some servers.
  if (places?.length !== 1 || loose.length !== exact.length || exact.some((segment) => CUT_OFF.test(segment))) {
    throw new IpPatternError(`servers read "${text}" in different ways`);
  }
  return { exact, loose };
}

/** A condition of rules about the request. Both of its parts must hold. */
export class RequestCondition {
  private readonly denies: boolean;
  /** Null: any. */
  private readonly paths: readonly RulePath[] | null;
  private readonly methods: ReadonlySet<string> | null;

  /** @throws IpPatternError */
  constructor(type: 'allow' | 'deny', { paths, methods }: RuleRequests) {
    if (paths?.length === 0 || methods?.length === 0)
      throw new IpPatternError('paths and methods need at least one entry');
    this.denies = type === 'deny';
    this.paths = paths ? paths.map(readRulePath) : null;
    this.methods = methods ? methodsOf(methods.map(parseRuleMethod)) : null;
  }

  /**
   * What is not certain counts against the visitor: a rule that denies holds where some server could read the request
   * in its sense, and a rule that allows only where every server reads it so.
   */
  holds(asked: AskedRequest | 'own' | 'unseen' | undefined): boolean {
    if (asked === undefined) return false;
    if (asked === 'own') return !this.denies;
    if (asked === 'unseen') return this.denies;
    return this.holdsMethods(asked.methods) && (this.paths === null || this.holdsPaths(asked.paths, this.paths));
  }

  private holdsMethods(asked: readonly string[]): boolean {
    const { methods } = this;
    if (methods === null) return true;
    return this.denies
      ? asked.some((method) => methods.has(method.toUpperCase()))
      : asked.every((method) => methods.has(method));
  }

  private holdsPaths(asked: readonly (AskedPath | null)[], paths: readonly RulePath[]): boolean {
    // Everything is below `/`, however it is read.
    if (paths.some(({ exact }) => exact.length === 0)) return true;
    return this.denies
      ? asked.some((path) => path === null || this.holdsPath(path, paths))
      : asked.every((path) => path !== null && this.holdsPath(path, paths));
  }

  private holdsPath(asked: AskedPath, paths: readonly RulePath[]): boolean {
    const isExact = paths.some(({ exact }) => isBelow(asked.exact, exact));
    if (this.denies ? isExact : !isExact) return this.denies;
    const { places } = asked;
    if (places === null) return this.denies;
    const isWithin = (place: readonly string[]): boolean => paths.some(({ loose }) => isBelow(place, loose));
    return this.denies ? places.some(isWithin) : places.every(isWithin);
  }
}

/**
 * What a request asks for, read when a condition needs it. Some servers take path or method from header fields that any
 * visitor can send: such a request asks for several at once.
 */
export class AskedRequest {
  private readonly request: RequestFacts;
  private foundMethods: readonly string[] | null = null;
  private foundPaths: readonly (AskedPath | null)[] | null = null;

  constructor(request: RequestFacts) {
    this.request = request;
  }

  get methods(): readonly string[] {
    return (this.foundMethods ??= [this.request.method, ...this.valuesOf(METHOD_FIELDS)]);
  }

  /** Null for one that cannot be read. */
  get paths(): readonly (AskedPath | null)[] {
    this.foundPaths ??= [
      new AskedPath(this.request.target),
      ...this.valuesOf(PATH_FIELDS).map((value) => {
        const target = readTarget(value.replace(/^https?:\/\/[^/]*/i, ''));
        return target && new AskedPath(target);
      }),
    ];
    return this.foundPaths;
  }

  private valuesOf(names: ReadonlySet<string>): string[] {
    const fields = this.request.fields?.kept ?? [];
    return fields.filter((_, at) => at % 2 === 1 && names.has((fields[at - 1] ?? '').toLowerCase()));
  }
}

/** The path of a request in the forms that conditions compare. */
class AskedPath {
  private readonly target: RequestTarget;
  private exactSegments: readonly string[] | null = null;
  private loosely: { places: readonly (readonly string[])[] | null } | null = null;

  constructor(target: RequestTarget) {
    this.target = target;
  }

  /** Escaped slashes are part of their segments here; among the `places` they separate. */
  get exact(): readonly string[] {
    const { path, forward, ambiguous } = this.target;
    return (this.exactSegments ??= segmentsOf(ambiguous ? literalPath(forward) : path));
  }

  /** Everything that a lenient server could read; null: too ambiguous. */
  get places(): readonly (readonly string[])[] | null {
    this.loosely ??= { places: this.readPlaces() };
    return this.loosely.places;
  }

  private readPlaces(): readonly (readonly string[])[] | null {
    const { path } = this.target;
    // Most paths are such, and `loosePlaces` takes microseconds.
    if (ONE_READING.test(path)) return [segmentsOf(path)];
    return loosePlaces(path)?.map(segmentsOf) ?? null;
  }
}

/** The path with all escapes decoded but those of slashes and backslashes. */
function literalPath(forward: string): string {
  const question = forward.indexOf('?');
  const path = question < 0 ? forward : forward.slice(0, question);
  return path.replaceAll(/%(?!2f|5c)[0-9a-f]{2}/gi, (escape) =>
    String.fromCharCode(Number.parseInt(escape.slice(1), 16)),
  );
}

/** HEAD is a GET without a body (RFC 9110 9.3.2): a rule about GET is one about HEAD. */
function methodsOf(methods: readonly string[]): ReadonlySet<string> {
  return new Set(methods.includes('GET') ? [...methods, 'HEAD'] : methods);
}

function segmentsOf(path: string): string[] {
  const text = path.replace(/^\//, '').replace(/\/$/, '');
  return text === '' ? [] : text.split('/');
}

function isBelow(path: readonly string[], pattern: readonly string[]): boolean {
  return path.length >= pattern.length && pattern.every((segment, at) => segment === '*' || segment === path[at]);
}

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { loosePlaces } from '../vhost/loose-path.js';
import { readTarget } from '../vhost/request-target.js';
import { IpPatternError } from './ip-pattern.js';
import {
  AskedRequest,
  parseRuleMethod,
  parseRulePath,
  RequestCondition,
  type RuleRequests,
} from './request-condition.js';

/** Null: the gateway refuses such a request before it asks any rule. */
function holds(type: 'allow' | 'deny', about: RuleRequests, path: string, method = 'GET'): boolean | null {
  const target = readTarget(path);
  return target && new RequestCondition(type, about).holds(new AskedRequest({ method, target }));
}

const admin = { paths: ['/admin'] };
const open = { paths: ['/public'] };

describe('a path of a rule', () => {
  it.each([
    ['/', '/', true],
    ['/', '/a/b', true],
    ['/admin', '/admin', true],
    ['/admin', '/admin/', true],
    ['/admin', '/admin/users?x=/public', true],
    ['/admin', '/administrator', false],
    ['/admin', '/', false],
    ['/admin', '/a?/admin', false],
    ['/users/*/keys', '/users/7/keys/2', true],
    ['/users/*/keys', '/users/keys', false],
    ['/users/*', '/users/', false],
    ['/caf\u00e9', '/caf%C3%A9/x', true],
    ['/a%20b', '/a%20b', true],
  ])('%s holds for %s: %s', (path, asked, expected) => {
    expect(holds('deny', { paths: [path] }, asked)).toBe(expected);
    expect(holds('allow', { paths: [path] }, asked)).toBe(expected);
  });

  it.each([
    '/Admin',
    '/ADMIN/x',
    '/%61dmin',
    '/%2561dmin',
    '/./admin',
    '//admin',
    '/x/../admin',
    '/x/%2e%2e/admin',
    '/public/..;/admin',
    '/public/..;x=1/admin',
    '/admin;jsessionid=1',
    '/admin.',
    '/admin%20',
    '/admin::$DATA',
    '/admin%2fusers',
    '/admin%5cusers',
    '/%5cadmin',
    '/public%2f..%2fadmin',
    '/public/%252e%252e/admin',
    '/public/..%2fadmin',
    '/%EF%BD%81dmin',
    '/admin%00',
    '/ad%0dmin',
    '/admin/..;/x',
    '/admin/..%2f..%2fpublic',
    '/public/%ff/admin',
  ])('that denies /admin holds for %s, and one that allows /public does not', (path) => {
    expect(holds('deny', admin, path)).not.toBe(false);
    expect(holds('allow', open, path)).not.toBe(true);
  });

  it.each(['/Public', '/public%2fx', '/public%5cx', '/%2570ublic', '/public/%ff', '/public/..;/x'])(
    'that allows /public does not hold for %s, which some servers read as another path',
    (path) => {
      expect(holds('allow', open, path)).not.toBe(true);
    },
  );

  it('leaves escaped slashes alone where every reading is within', () => {
    expect(holds('allow', { paths: ['/api'] }, '/api/projects/group%2Fproject')).toBe(true);
    expect(holds('deny', admin, '/api/projects/group%2Fproject')).toBe(false);
    expect(holds('allow', { paths: ['/'] }, '/a%2f..%2fb%ff')).toBe(true);
  });

  it('has one spelling', () => {
    expect(parseRulePath(' /admin/ ')).toBe('/admin');
    expect(parseRulePath('/a//b/*')).toBe('/a/b/*');
    expect(parseRulePath('/')).toBe('/');
  });

  it.each([
    '',
    'admin',
    '/a?b',
    '/a#b',
    '/a%2fb',
    '/a\\b',
    '/..',
    '/a/..;/b',
    '/a%00',
    '/;x',
    '/a;x',
    '/a:b',
    '/a.',
    '/a/.%20',
    '/%ff',
    '*',
  ])('cannot be %j', (path) => {
    expect(() => parseRulePath(path)).toThrow(IpPatternError);
  });
});

describe('a method of a rule', () => {
  it.each([
    [['GET'], 'GET', true],
    [['GET'], 'HEAD', true],
    [['HEAD'], 'GET', false],
    [['post', 'PUT'], 'POST', true],
    [['GET'], 'POST', false],
  ])('%j holds for %s: %s', (methods, asked, expected) => {
    expect(holds('deny', { methods }, '/', asked)).toBe(expected);
    expect(holds('allow', { methods }, '/', asked)).toBe(expected);
  });

  it('counts in lower case where it denies, and not where it allows', () => {
    expect([
      holds('deny', { methods: ['POST'] }, '/', 'post'),
      holds('allow', { methods: ['POST'] }, '/', 'post'),
    ]).toEqual([true, false]);
  });

  it('is a token, and one that can reach a host', () => {
    expect(parseRuleMethod(' propfind ')).toBe('PROPFIND');
    for (const method of ['', 'GET POST', 'CONNECT', 'trace', '*', 'G\u00c9T']) {
      expect(() => parseRuleMethod(method), method).toThrow(IpPatternError);
    }
  });
});

describe('a request that names another path or method in a header field', () => {
  const target = readTarget('/public')!;
  const with_ = (type: 'allow' | 'deny', about: RuleRequests, ...kept: string[]): boolean =>
    new RequestCondition(type, about).holds(new AskedRequest({ method: 'POST', target, fields: { kept } }));

  it.each([
    ['X-Original-URL', '/admin'],
    ['x-rewrite-url', '/ADMIN/x?y'],
    ['X-Original-Url', 'https://a.test/x/..;/admin'],
    ['X-Rewrite-URL', 'admin'],
    ['X-Original-URL', '/%zz'],
  ])('asks for both: %s %s', (name, value) => {
    expect(with_('deny', admin, name, value)).toBe(true);
    expect(with_('allow', open, name, value)).toBe(false);
  });

  it.each(['X-HTTP-Method-Override', 'x-http-method', 'X-Method-Override'])('asks for both: %s', (name) => {
    expect(with_('deny', { methods: ['DELETE'] }, name, 'delete')).toBe(true);
    expect(with_('allow', { methods: ['POST'] }, name, 'DELETE')).toBe(false);
    expect(with_('allow', { methods: ['POST', 'DELETE'] }, 'A', 'b', name, 'DELETE')).toBe(true);
  });

  it('asks for no more where the field says the same, or is another one', () => {
    expect(with_('allow', open, 'X-Original-URL', '/public/x')).toBe(true);
    expect(with_('deny', admin, 'Referer', '/admin', 'X', 'X-Original-URL')).toBe(false);
  });
});

describe('a condition', () => {
  it('needs both its parts', () => {
    const both = { paths: ['/admin', '/api'], methods: ['POST'] };
    expect(holds('deny', both, '/api', 'POST')).toBe(true);
    expect(holds('deny', both, '/api', 'GET')).toBe(false);
    expect(holds('deny', both, '/x', 'POST')).toBe(false);
  });

  it('counts against the visitor where requests cannot be seen, and concerns nobody where there are none', () => {
    const of = (type: 'allow' | 'deny') => new RequestCondition(type, admin);
    expect([of('allow').holds('unseen'), of('deny').holds('unseen')]).toEqual([false, true]);
    expect([of('allow').holds(undefined), of('deny').holds(undefined)]).toEqual([false, false]);
    // The gateway's own pages lead to no target.
    expect([of('allow').holds('own'), of('deny').holds('own')]).toEqual([true, false]);
  });
});

describe('spellings of a denied path', () => {
  const letter = (character: string) =>
    fc.constantFrom(
      character,
      character.toUpperCase(),
      `%${character.charCodeAt(0).toString(16)}`,
      `%25${character.charCodeAt(0).toString(16)}`,
      `%2525${character.charCodeAt(0).toString(16)}`,
      encodeURIComponent(String.fromCodePoint(character.charCodeAt(0) + 0xfee0)),
    );
  const word = fc.tuple(...'admin'.split('').map(letter)).map((letters) => letters.join(''));
  const slash = fc.constantFrom('/', '//', '/./', '/;x/', '%2f', '%5C', '/%2e/', '%252f');
  const before = fc.constantFrom(
    '',
    '/public/..',
    '/public/..;',
    '/public/%2e%2e',
    '/public%2f..',
    '/public/%252e.',
    '/x/.%2e;a',
  );
  const after = fc.constantFrom('', ';a=b', '.', '%20', '::$DATA', '/', '/users', '%2fusers', '?x', '%00', '..');
  const spelled = fc.tuple(before, slash, word, after).map((parts) => parts.join(''));

  it('never get past a rule that denies it, nor through one that allows another', () => {
    let read = 0;
    fc.assert(
      fc.property(spelled, (path) => {
        const asked = path.startsWith('/') ? path : `/${path}`;
        if (readTarget(asked) !== null) read += 1;
        expect(holds('deny', admin, asked), asked).not.toBe(false);
        expect(holds('allow', open, asked), asked).not.toBe(true);
      }),
      { numRuns: 4000 },
    );
    // Most of them are requests that would reach a target.
    expect(read).toBeGreaterThan(1000);
  });

  it('are caught by a rule that denies wherever one that allows would let them in', () => {
    const part = fc.constantFrom(
      ...'aAb.;:%/\\ ~'.split(''),
      '%2f',
      '%5c',
      '%2e',
      '%25',
      '%61',
      '..',
      '..;',
      '%c3%a9',
      '%ff',
      'ab',
      '*',
    );
    const path = fc.array(part, { maxLength: 10 }).map((parts) => `/${parts.join('')}`);
    const rule = fc.constantFrom('/', '/a', '/ab', '/a/b', '/*/a', '/\u00e9');
    let admitted = 0;
    fc.assert(
      fc.property(rule, path, (about, asked) => {
        if (holds('allow', { paths: [about] }, asked) !== true) return;
        admitted += 1;
        expect(holds('deny', { paths: [about] }, asked), `${about} ${asked}`).toBe(true);
        // What is allowed goes to the target as it was judged: once more, it is judged the same.
        const sent = readTarget(asked)?.forward ?? '';
        expect(holds('allow', { paths: [about] }, sent), `${about} ${sent}`).toBe(true);
      }),
      { numRuns: 5000 },
    );
    expect(admitted).toBeGreaterThan(200);
  });

  it('need no look where a path has one reading', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[a-z0-9_-]{1,6}(\/[a-z0-9_-]{1,6}){0,3}\/?$/), (names) => {
        expect(loosePlaces(`/${names}`)).toEqual([`/${names.replace(/\/$/, '')}`]);
      }),
    );
  });

  it('are not taken for it where they are other paths', () => {
    const name = fc.stringMatching(/^[b-z][a-z0-9-]{0,8}$/);
    fc.assert(
      fc.property(fc.array(name, { minLength: 1, maxLength: 4 }), (names) => {
        expect(holds('deny', admin, `/${names.join('/')}`)).toBe(false);
        expect(holds('allow', open, `/public/${names.join('/')}`)).toBe(true);
      }),
    );
  });
});

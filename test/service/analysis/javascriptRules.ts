import type { Rule } from '@ast-grep/napi';
import type { WeaknessRule } from './rules.ts';

const FROM_REQUEST = '\\breq(uest)?\\.(query|params|body|headers|cookies)\\b';
const SECRET_NAME = '(?i)(secret|passw(or)?d|api_?key|private_?key|access_?token)$';

/** A string that is put together from parts at run time. */
const composed: Rule = {
  any: [{ kind: 'binary_expression' }, { kind: 'template_string', has: { kind: 'template_substitution' } }],
};

/** A call of a function with this name, the last part of the callee, whose first argument is as given. */
function callWith(callee: string, firstArgument: Rule): Rule {
  return {
    kind: 'call_expression',
    all: [
      { has: { field: 'function', regex: callee } },
      { has: { field: 'arguments', has: { nthChild: 1, ...firstArgument } } },
    ],
  };
}

const fromRequest: Rule = { regex: FROM_REQUEST };

/** A name that holds a secret, with a literal of some length as its value. */
function literalSecret(kind: string, nameField: string, valueField: string): Rule {
  return {
    kind,
    all: [
      { has: { field: nameField, regex: SECRET_NAME } },
      { has: { field: valueField, kind: 'string', regex: '^.{10,}$' } },
    ],
  };
}

/** What is looked for in JavaScript and TypeScript. */
export const javascriptRules: readonly WeaknessRule[] = [
  {
    id: 'sql-injection',
    cwe: 'CWE-89',
    severity: 'critical',
    hint: /\b(select|insert|update|delete)\b/i,
    matcher: {
      rule: {
        all: [
          composed,
          { regex: '^[\'"`]\\s*(?i:select\\s|insert\\s+into\\s|update\\s|delete\\s+from\\s)' },
          { not: { inside: { kind: 'binary_expression' } } },
          {
            has: {
              stopBy: 'end',
              any: [{ kind: 'identifier' }, { kind: 'member_expression' }, { kind: 'call_expression' }],
            },
          },
        ],
      },
    },
  },
  {
    id: 'command-injection',
    cwe: 'CWE-78',
    severity: 'critical',
    hint: /\bexec(Sync)?\s*\(/,
    matcher: { rule: callWith('^((child_process|childProcess|cp)\\.)?exec(Sync)?$', composed) },
  },
  {
    id: 'code-injection',
    cwe: 'CWE-95',
    severity: 'critical',
    hint: /\b(eval|Function)\s*\(/,
    matcher: {
      rule: {
        any: [
          callWith('^eval$', { not: { kind: 'string' } }),
          { kind: 'new_expression', has: { field: 'constructor', regex: '^Function$' } },
        ],
      },
    },
  },
  {
    id: 'cross-site-scripting',
    cwe: 'CWE-79',
    severity: 'high',
    hint: /\b(innerHTML|outerHTML)\b|\.send\s*\(/,
    matcher: {
      rule: {
        any: [
          {
            kind: 'assignment_expression',
            all: [
              { has: { field: 'left', regex: '\\.(inner|outer)HTML$' } },
              { has: { field: 'right', not: { kind: 'string' } } },
            ],
          },
          callWith('^res(ponse)?\\.send$', { all: [composed, fromRequest] }),
        ],
      },
    },
  },
  {
    id: 'path-traversal',
    cwe: 'CWE-22',
    severity: 'high',
    hint: /sendFile|readFile|createReadStream|download/,
    matcher: { rule: callWith('(^|\\.)(sendFile|download|readFile(Sync)?|createReadStream)$', fromRequest) },
  },
  {
    id: 'server-side-request-forgery',
    cwe: 'CWE-918',
    severity: 'high',
    hint: /\b(fetch|axios|got)\b/,
    matcher: { rule: callWith('^(fetch|got|axios(\\.(get|post|request))?)$', fromRequest) },
  },
  {
    id: 'hard-coded-secret',
    cwe: 'CWE-798',
    severity: 'high',
    hint: /secret|passw|key|token/i,
    matcher: {
      rule: {
        any: [
          literalSecret('variable_declarator', 'name', 'value'),
          literalSecret('pair', 'key', 'value'),
          literalSecret('assignment_expression', 'left', 'right'),
        ],
      },
    },
  },
  {
    id: 'weak-hash',
    cwe: 'CWE-328',
    severity: 'medium',
    hint: /createHash/,
    matcher: { rule: callWith('(^|\\.)createHash$', { kind: 'string', regex: '(?i)^.(md5|sha1).$' }) },
  },
  {
    id: 'predictable-random',
    cwe: 'CWE-338',
    severity: 'medium',
    hint: /Math\.random/,
    matcher: {
      rule: {
        pattern: 'Math.random()',
        inside: {
          stopBy: 'end',
          any: ['variable_declarator', 'function_declaration', 'pair'].map((kind) => ({
            kind,
            has: { regex: '(?i)(token|secret|session|password|nonce|coupon)', nthChild: 1 },
          })),
        },
      },
    },
  },
  {
    id: 'certificate-check-off',
    cwe: 'CWE-295',
    severity: 'medium',
    hint: /rejectUnauthorized/,
    matcher: { rule: { kind: 'pair', regex: '^[\'"]?rejectUnauthorized[\'"]?\\s*:\\s*false$' } },
  },
  {
    id: 'open-redirect',
    cwe: 'CWE-601',
    severity: 'medium',
    hint: /\.redirect\s*\(/,
    matcher: { rule: callWith('^res(ponse)?\\.redirect$', fromRequest) },
  },
  {
    id: 'script-readable-cookie',
    cwe: 'CWE-1004',
    severity: 'low',
    hint: /httpOnly/,
    matcher: { rule: { kind: 'pair', regex: '^[\'"]?httpOnly[\'"]?\\s*:\\s*false$' } },
  },
  {
    id: 'stack-disclosure',
    cwe: 'CWE-209',
    severity: 'low',
    hint: /\.stack\b/,
    matcher: { rule: callWith('\\.(send|json|end)$', { regex: '\\b(e|err|error)\\.stack\\b' }) },
  },
  {
    id: 'open-security-note',
    cwe: 'CWE-546',
    severity: 'none',
    hint: /TODO|FIXME/,
    matcher: {
      rule: {
        kind: 'comment',
        regex: '(TODO|FIXME).*((?i:auth|secur|permission|validat)|認証|認可|権限|検証)',
      },
    },
  },
];

import type { Rule } from '@ast-grep/napi';
import type { WeaknessRule } from './rules.ts';

/** A call of this callee, with an argument as given when there is one. */
function callOf(callee: string, argument?: Rule): Rule {
  const named: Rule = { has: { field: 'function', regex: callee } };
  return { kind: 'call', all: argument ? [named, { has: { field: 'arguments', has: argument } }] : [named] };
}

/** What is looked for in Python. */
export const pythonRules: readonly WeaknessRule[] = [
  {
    id: 'command-injection',
    cwe: 'CWE-78',
    severity: 'critical',
    hint: /shell\s*=\s*True|os\.system/,
    matcher: {
      rule: {
        any: [
          callOf('^subprocess\\.(run|call|check_call|check_output|Popen)$', {
            kind: 'keyword_argument',
            regex: '^shell\\s*=\\s*True$',
          }),
          callOf('^os\\.system$', {
            nthChild: 1,
            not: { kind: 'string', not: { has: { kind: 'interpolation' } } },
          }),
        ],
      },
    },
  },
  {
    id: 'unsafe-deserialization',
    cwe: 'CWE-502',
    severity: 'critical',
    hint: /pickle|yaml\.load/,
    matcher: {
      rule: {
        any: [
          callOf('^c?[pP]ickle\\.loads?$'),
          {
            all: [
              callOf('^yaml\\.load$'),
              { not: { has: { stopBy: 'end', regex: '^(yaml\\.)?C?SafeLoader$' } } },
            ],
          },
        ],
      },
    },
  },
  {
    id: 'sql-injection',
    cwe: 'CWE-89',
    severity: 'critical',
    hint: /execute/,
    matcher: {
      rule: {
        kind: 'call',
        all: [
          { has: { field: 'function', regex: '\\.execute(many)?$' } },
          {
            has: {
              field: 'arguments',
              has: {
                nthChild: 1,
                any: [{ kind: 'binary_operator' }, { kind: 'string', has: { kind: 'interpolation' } }],
              },
            },
          },
        ],
      },
    },
  },
  {
    id: 'weak-hash',
    cwe: 'CWE-328',
    severity: 'medium',
    hint: /hashlib/,
    matcher: { rule: callOf('^hashlib\\.(md5|sha1)$') },
  },
  {
    id: 'predictable-file-name',
    cwe: 'CWE-377',
    severity: 'low',
    hint: /mktemp/,
    matcher: { rule: callOf('^tempfile\\.mktemp$') },
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

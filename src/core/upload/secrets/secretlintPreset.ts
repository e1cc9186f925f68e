import { lintSource } from '@secretlint/core';
import { secretLintProfiler } from '@secretlint/profiler';
import { rules } from '@secretlint/secretlint-rule-preset-recommend';
import { extname } from 'node:path';
import { maskToken, type Match } from './ourRules.ts';

/** Secretlint's recommended preset. Ignores comments that switch rules off: only a person decides what is sent. */
export type PresetLint = (text: string, path: string) => Promise<Match[]>;

export function presetLint(): PresetLint {
  // The profiler never frees its entry for each rule and text.
  secretLintProfiler.setEnabled(false);
  const config = {
    rules: rules
      .filter(({ meta }) => meta.id !== '@secretlint/secretlint-rule-filter-comments')
      // A rule that is part of a preset cannot be left out.
      .map((rule) => ({ id: rule.meta.id, rule })),
  };
  return async (text, path) => {
    const ext = extname(path);
    const { messages } = await lintSource({
      source: {
        filePath: path,
        content: text,
        // The rule for .p12 opens the file, relative to the process's folder.
        ext: ext === '.p12' ? '' : ext,
        contentType: 'text',
      },
      options: { config, noPhysicFilePath: true },
    });
    return messages.flatMap(({ ruleId, range: [start, end], data }) => {
      const rule = ruleId.replace('@secretlint/secretlint-rule-', 'secretlint/');
      if (rule === 'secretlint/gcp') return [gcpKey(text)];
      const token = reportedToken(data) ?? text.slice(start, end);
      if (rule === 'secretlint/sendgrid' && !isSendGrid(token)) return [];
      return [{ rule, index: start, secret: token, masked: maskToken(token) }];
    });
  };
}

/** Some rules report a range with the token's length that starts before the token. */
function reportedToken(data: unknown): string | undefined {
  if (typeof data !== 'object' || data === null) return undefined;
  const [token] = Object.entries(data).flatMap(([name, value]: [string, unknown]) =>
    ['KEY', 'TOKEN', 'ID'].includes(name) && typeof value === 'string' ? [value] : [],
  );
  return token;
}

/** The rule reports the whole file; our rule finds the key too. */
function gcpKey(text: string): Match {
  const index = Math.max(0, text.indexOf('"private_key"'));
  return { rule: 'secretlint/gcp', index, secret: '', masked: maskToken('-----BEGIN PRIVATE KEY-----') };
}

/** The rule takes `SG.default.create` of minified code for a key. */
function isSendGrid(match: string): boolean {
  return match.length >= 20 && [/[a-z]/, /[A-Z]/, /\d/].every((kind) => kind.test(match.slice(3)));
}

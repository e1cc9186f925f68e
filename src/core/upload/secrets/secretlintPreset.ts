import { lintSource } from '@secretlint/core';
import { secretLintProfiler } from '@secretlint/profiler';
import { rules } from '@secretlint/secretlint-rule-preset-recommend';
import { extname } from 'node:path';
import { maskToken, type Match } from './ourRules.ts';
import { isExample } from './placeholders.ts';

/** Secretlint's rules for what is known by its form or by what stands around it. `tokenTable` has the tokens, faster and with fewer false alarms. */
export type PresetLint = (text: string, path: string) => Promise<Match[]>;

/** @internal Not its comments that switch rules off: only a person decides what is sent. */
export const usedRules = ['basicauth', 'database-connection-string', 'npm'];

export function presetLint(): PresetLint {
  // The profiler never frees its entry for each rule and text.
  secretLintProfiler.setEnabled(false);
  const config = {
    rules: rules
      .filter(({ meta }) => usedRules.includes(nameOf(meta.id)))
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
      const name = nameOf(ruleId);
      const token = reportedToken(data) ?? text.slice(start, end);
      if (name === 'npm' && isExample(token)) return [];
      return [{ rule: `secretlint/${name}`, index: start, secret: token, masked: maskToken(token) }];
    });
  };
}

function nameOf(ruleId: string): string {
  return ruleId.replace('@secretlint/secretlint-rule-', '');
}

/** Some rules report a range with the token's length that starts before the token. */
function reportedToken(data: unknown): string | undefined {
  if (typeof data !== 'object' || data === null) return undefined;
  const [token] = Object.entries(data).flatMap(([name, value]: [string, unknown]) =>
    ['KEY', 'TOKEN', 'ID'].includes(name) && typeof value === 'string' ? [value] : [],
  );
  return token;
}

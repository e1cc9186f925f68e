import * as vscode from 'vscode';
import { systemCode } from '../../core/errors.ts';
import { visibleLine } from '../../core/visibleText.ts';
import type { Failure } from '../../core/run/state/run.ts';

/** What a file system could not do, as `storage` with the file and the system's code, or `diskFull`; undefined for any other error. */
export function toFileFailure(error: unknown): Failure | undefined {
  const found = error instanceof vscode.FileSystemError ? factsOf(error) : systemFactsOf(error);
  if (found === undefined) return undefined;
  const { code, path } = found;
  return ['ENOSPC', 'EDQUOT'].includes(code)
    ? { kind: 'diskFull' }
    : { kind: 'storage', subject: visibleLine(path ?? vscode.l10n.t('The file')), detail: code };
}

/** The system's code and path stand in VS Code's sentence alone, if at all: "Error: EACCES: permission denied, open '/a/b'". */
function factsOf(error: vscode.FileSystemError): { code: string; path?: string | undefined } {
  const [, code, path] = /\b(E[A-Z]{2,}): [^']*(?:'(.*)')?/.exec(error.message) ?? [];
  return { code: code ?? error.code, path };
}

function systemFactsOf(error: unknown): { code: string; path?: string | undefined } | undefined {
  const code = systemCode(error);
  if (code === undefined || !/^E[A-Z0-9]+$/.test(code)) return undefined;
  const { path, dest } = error as { path?: unknown; dest?: unknown };
  // Of two files, the one to be written is the one that a person has named.
  const named = [dest, path].find((each) => typeof each === 'string');
  return named === undefined && !['ENOSPC', 'EDQUOT'].includes(code) ? undefined : { code, path: named };
}

import * as vscode from 'vscode';
import { type ImportFault, maxImportBytes } from '../../core/findings/importExport/importFault.ts';
import { formatBytes } from '../formats.ts';

/** Why a file could not be imported, and what would be one; `part` is what inside it the fault is about. */
export function describeImportFault(fault: ImportFault, part?: string): string {
  const t = vscode.l10n.t;
  const about = part === undefined ? '' : ` (${part})`;
  switch (fault) {
    case 'tooLarge':
      return t(
        'Nothing was imported: the file, or one inside it, is larger than {0}, or holds more than can be read.',
        formatBytes(maxImportBytes),
      );
    case 'notText':
      return t('Nothing was imported: the file is not UTF-8 text. Save it as UTF-8 and try again.');
    case 'notRead':
      return t(
        'Nothing was imported: tables are not read. Export an Offline Bundle instead: it brings the findings and all that goes with them.',
      );
    case 'noFindings':
      return t('Nothing was imported: the file is neither a bundle nor SARIF, nor a findings file.') + about;
    case 'notABundle':
      return t('Nothing was imported: the archive is not a bundle that this extension exported.') + about;
    case 'newerVersion':
      return t(
        'Nothing was imported: the bundle comes from a newer version of this extension. Update it and try again.',
      );
    case 'encrypted':
      return t('Nothing was imported: the archive is encrypted. A bundle never is.');
    case 'damaged':
      return t('Nothing was imported: the bundle is damaged. Have it sent again.') + about;
  }
}

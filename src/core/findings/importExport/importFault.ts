import { AssessmentError } from '../../errors.ts';
import { MAX_FINDINGS_BYTES } from '../parse/readFindings.ts';

/** Largest file that is taken in, and largest file inside a bundle. */
export const maxImportBytes = MAX_FINDINGS_BYTES;

/** Why a file cannot be imported. */
export type ImportFault =
  'tooLarge' | 'notText' | 'notRead' | 'noFindings' | 'notABundle' | 'newerVersion' | 'encrypted' | 'damaged';

/** The error of a file that cannot be imported; `part` is what inside it the fault is about. */
export function badImport(fault: ImportFault, part?: string, cause?: unknown): AssessmentError {
  return new AssessmentError('badImport', { subject: fault, detail: part, limit: maxImportBytes }, { cause });
}

import { AssessmentError } from '../../errors.ts';

/** Largest file that is taken in, and largest file inside a bundle. */
export const maxImportBytes = 64_000_000;

/** Why a file cannot be imported. */
export type ImportFault =
  'tooLarge' | 'notText' | 'noFindings' | 'notABundle' | 'newerVersion' | 'encrypted' | 'damaged';

/** The error of a file that cannot be imported; `part` is what inside it the fault is about. */
export function badImport(fault: ImportFault, part?: string, cause?: unknown): AssessmentError {
  return new AssessmentError('badImport', { subject: fault, detail: part, limit: maxImportBytes }, { cause });
}

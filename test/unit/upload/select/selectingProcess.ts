/**
 * This child process selects the folder in its first argument with the options in its second, and
 * prints the result and the processor time.
 */
import { AssessmentError } from '../../../../src/core/errors.ts';
import { selectFiles, type SelectOptions } from '../../../../src/core/upload/select/selectFiles.ts';
import { cpuMs } from '../../core/cpuTime.ts';

const [, , root = '', options = ''] = process.argv;
const select = async (): Promise<object> => {
  try {
    const { files } = await selectFiles(root, JSON.parse(options) as SelectOptions);
    return { files: files.map(({ path }) => path) };
  } catch (error) {
    if (!(error instanceof AssessmentError)) throw error;
    return { failure: [error.kind, error.data.subject, error.data.detail] };
  }
};
const began = cpuMs();
console.log(JSON.stringify({ ...(await select()), usedMs: cpuMs() - began }));

/** Selects the folder that its first argument names with the options in its second, and prints what came of it: for selections that must not take the tests' own process with them. */
import { AssessmentError } from '../../../../src/core/errors.ts';
import { selectFiles, type SelectOptions } from '../../../../src/core/upload/select/selectFiles.ts';

const [, , root = '', options = ''] = process.argv;
try {
  const { files } = await selectFiles(root, JSON.parse(options) as SelectOptions);
  console.log(JSON.stringify({ files: files.map(({ path }) => path) }));
} catch (error) {
  if (!(error instanceof AssessmentError)) throw error;
  console.log(JSON.stringify({ failure: [error.kind, error.data.subject, error.data.detail] }));
}

/** Child process that selects the folder in its first argument with the options in its second, and prints the result. */
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

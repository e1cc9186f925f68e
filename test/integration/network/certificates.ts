import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { certificatesVariable } from '../events.ts';

/** Only the tests' proxy resolves this host name, because RFC 6761 reserves `.test`. */
export const serviceHost = 'assessment.example.test';

/**
 * Creates an invented private CA and the certificates of some servers in `folder`, and returns the
 * environment in which VS Code trusts that CA, as a company sets it up. Without openssl, returns
 * an empty environment, or throws if REQUIRE_ORACLES is 1.
 */
export async function certificateEnvironment(
  folder: string,
): Promise<Readonly<Record<string, string | undefined>>> {
  await mkdir(folder, { recursive: true });
  try {
    await openssl(
      folder,
      selfSigned('ca', 'Invented CA of a company', ['basicConstraints=critical,CA:TRUE']),
    );
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT';
    if (isMissing && process.env['REQUIRE_ORACLES'] !== '1') return {};
    throw error;
  }
  await openssl(
    folder,
    selfSigned('stranger', serviceHost, [`subjectAltName=DNS:${serviceHost},IP:127.0.0.1`]),
  );
  await issue(folder, 'service', `DNS:${serviceHost}`);
  await issue(folder, 'otherName', 'DNS:other.example.test');
  return { [certificatesVariable]: folder, NODE_EXTRA_CA_CERTS: path.join(folder, 'ca.crt') };
}

const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];

function selfSigned(name: string, commonName: string, extensions: readonly string[]): string[] {
  const added = extensions.flatMap((extension) => ['-addext', extension]);
  const files = ['-keyout', `${name}.key`, '-out', `${name}.crt`];
  return ['req', '-x509', ...newKey, '-days', '2', '-subj', `/CN=${commonName}`, ...added, ...files];
}

async function issue(folder: string, name: string, alternativeName: string): Promise<void> {
  const extensions = `${name}.ext`;
  await writeFile(path.join(folder, extensions), `subjectAltName=${alternativeName}\n`);
  const files = ['-keyout', `${name}.key`, '-out', `${name}.csr`];
  await openssl(folder, ['req', ...newKey, '-subj', `/CN=${name}`, ...files]);
  const authority = ['-CA', 'ca.crt', '-CAkey', 'ca.key', '-CAcreateserial', '-days', '2'];
  const signing = ['-in', `${name}.csr`, '-out', `${name}.crt`, '-extfile', extensions];
  await openssl(folder, ['x509', '-req', ...authority, ...signing]);
}

async function openssl(cwd: string, args: readonly string[]): Promise<void> {
  await promisify(execFile)('openssl', args, { cwd });
}

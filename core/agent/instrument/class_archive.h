/*
 * Whether the JVM writes an archive of its classes when it ends (CDS, the AOT cache), or may be asked for one.
 *
 * Such a JVM must not have a changed class.  HotSpot dies when it writes the archive, whether the class was changed
 * back or not, and whatever the agent: JDK 17 of a class of the program's own, too, JDK 25 of those of the JDK (SIGSEGV
 * in SystemDictionaryShared, ConstMethod, ArchiveBuilder, MethodTrainingData).  Where it does not, changed classes and
 * the lambdas in them are missing in the archive.  That it uses an archive, or that 'jcmd VM.cds static_dump' has
 * another JVM write one, does no harm.
 */
#ifndef CORE_AGENT_CLASS_ARCHIVE_H
#define CORE_AGENT_CLASS_ARCHIVE_H

/* The option that says so, such as "-XX:ArchiveClassesAtExit=app.jsa", wherever it was given; NULL: it does not. */
const char *class_archive_option(void);

#endif
